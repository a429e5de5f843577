import { expect, it } from "vitest";
import {
  freshness,
  makeSigners,
  MirrorScene,
} from "../../scenes/mirror-in-process.ts";

const { K, L } = await makeSigners();
const keys = [K.armoredPublicKey, L.armoredPublicKey];
/** A signature that counts for nothing, because its registry published no key. */
const unnoticed = { by: K, keys: [] };

it.each([
  ["signs them all", {}, K],
  ["signs the newest alone", {}, undefined],
  ["signed them before", unnoticed, K],
])(
  "a publisher who adds keys to what was unsigned takes nothing away that was admitted: %s",
  async (_, before, by) => {
    const scene = await MirrorScene.prepare({ signatures: "when-published" });
    const { registry, clock } = scene;
    const mirror = scene.start();
    const served = {
      "0.9.0": "linux=a",
      "1.1.0": "linux=c",
      "1.0.0": "darwin=b linux=b",
    };
    registry.offer("0.9.0", { content: served["0.9.0"], ...before });
    expect(await mirror.version("0.9.0")).toBe(served["0.9.0"]);
    registry.offer("1.0.0", { content: served["1.0.0"], ...before });
    clock.pass(freshness);
    expect(await mirror.index()).toBe("1.0.0 0.9.0");
    expect(await mirror.version("1.0.0")).toBe(served["1.0.0"]);
    registry.offer("0.9.0", { content: served["0.9.0"], by, keys });
    registry.offer("1.0.0", { content: served["1.0.0"], by, keys });
    registry.offer("1.1.0", { content: served["1.1.0"], by: L, keys });
    for (const one of [mirror, mirror, scene.start()]) {
      clock.pass(freshness);
      for (const [version, content] of Object.entries(served)) {
        expect(await one.index()).toContain("1.0.0 0.9.0");
        expect(await one.version(version)).toBe(content);
      }
    }
  },
);
