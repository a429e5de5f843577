import { describe, expect, it } from "vitest";
import {
  freshness,
  makeSigners,
  MirrorScene,
} from "../../scenes/mirror-in-process.ts";

const { K, L } = await makeSigners();

/**
 * 0.9.0 was there at first contact and 1.0.0 came later, both unsigned and
 * admitted; now the registry publishes an old key and a new one.
 */
async function addKeys(signs: { old: boolean; before?: boolean }) {
  const scene = await MirrorScene.prepare({ signatures: "when-published" });
  const { registry, clock } = scene;
  const mirror = scene.start();
  // Signed before, too, with no key published for it.
  const before = signs.before === true ? { by: K, keys: [] } : {};
  registry.offer("0.9.0", { content: "linux=a", ...before });
  expect(await mirror.version("0.9.0")).toBe("linux=a");
  registry.offer("1.0.0", { content: "linux=b darwin=b", ...before });
  clock.pass(freshness);
  expect(await mirror.index()).toBe("1.0.0 0.9.0");
  expect(await mirror.version("1.0.0")).toBe("darwin=b linux=b");
  const keys = [K.armoredPublicKey, L.armoredPublicKey];
  const by = signs.old ? K : undefined;
  registry.offer("0.9.0", { content: "linux=a", by, keys });
  registry.offer("1.0.0", { content: "linux=b darwin=b", by, keys });
  registry.offer("1.1.0", { content: "linux=c", by: L, keys });
  clock.pass(freshness);
  return { scene, registry, clock, mirror, keys };
}

const served = {
  "1.1.0": "linux=c",
  "1.0.0": "darwin=b linux=b",
  "0.9.0": "linux=a",
};

describe("a publisher who adds keys to what was unsigned", () => {
  const newestFirst = ["1.1.0", "1.0.0", "0.9.0"] as const;
  const oldestFirst = ["0.9.0", "1.1.0", "1.0.0"] as const;
  const pinnedFirst = ["1.0.0", "0.9.0"] as const;
  it.each([
    ["signs them all", { old: true }, newestFirst],
    ["signs them all, oldest first", { old: true }, oldestFirst],
    ["signs them all, pinned first", { old: true }, pinnedFirst],
    ["signs the newest alone", { old: false }, newestFirst],
    ["signed before", { old: true, before: true }, newestFirst],
    ["signed before, oldest first", { old: true, before: true }, oldestFirst],
    ["signed before, pinned first", { old: true, before: true }, pinnedFirst],
  ] as const)(
    "takes nothing away that was admitted: %s",
    async (_, signs, order) => {
      const { scene, mirror, clock } = await addKeys(signs);
      for (const one of [mirror, mirror, scene.start()]) {
        expect(await one.index()).toContain("1.0.0 0.9.0");
        for (const version of order)
          expect(await one.version(version)).toBe(served[version]);
        expect(await one.index()).toContain("1.0.0 0.9.0");
        clock.pass(freshness);
      }
    },
  );
});
