import { beforeAll, describe, expect, it } from "vitest";
import {
  decide,
  forget,
  type KeyDecision,
} from "../../../src/trust/decisions.ts";
import type { Signer } from "../../fakes/signing.ts";
import { prepareMet } from "../../scenes/met-provider.ts";
import {
  acme,
  freshness,
  lookAgain,
  makeSigners,
  MirrorScene,
  type MirrorInProcess,
} from "../../scenes/mirror-in-process.ts";

let K: Signer;
let L: Signer;
let E: Signer;
beforeAll(async () => {
  ({ K, L, E } = await makeSigners());
});

const at = "2026-01-01T00:00:00.000Z";

function decideOn(
  { trust }: MirrorInProcess,
  { fingerprint }: Signer,
  decision: KeyDecision["decision"],
): Promise<void> {
  const key = { type: null, version: null, fingerprint, decision, at };
  return trust.decide(acme, (decisions) => decide(decisions, key));
}

describe("a publisher whose key was stolen", () => {
  /** K is revoked here, L is approved, and the publisher signs old and new releases by L. */
  async function rotate() {
    const met = await prepareMet(K);
    const { mirror, registry, clock } = met;
    expect(await mirror.version("2.0.0")).toBe("linux=b");
    await decideOn(mirror, L, "approved");
    await decideOn(mirror, K, "revoked");
    expect(await mirror.version("1.0.0")).toBe("key-refused: revoked");
    expect(await mirror.index()).toMatch(/^nothing-admitted|^key-refused/);
    registry.offer("1.0.0", { content: "linux=a", by: L });
    registry.offer("2.0.0", { content: "linux=b", by: L });
    registry.offer("3.0.0", { content: "linux=c", by: L });
    clock.pass(freshness);
    return met;
  }

  it("is served again once the same digests are under a key that counts", async () => {
    const { scene, mirror } = await rotate();
    for (const one of [mirror, scene.start()]) {
      expect(await one.version("1.0.0")).toBe("linux=a");
      expect(await one.version("2.0.0")).toBe("linux=b");
      expect(await one.version("3.0.0")).toBe("linux=c");
      expect(await one.index()).toBe("3.0.0 2.0.0 1.0.0");
    }
  });

  it("comes back in the list though clients ask for nothing by name", async () => {
    const { mirror, clock } = await rotate();
    await expect
      .poll(async () => {
        clock.pass(freshness);
        return mirror.index();
      })
      .toBe("3.0.0 2.0.0 1.0.0");
  });

  it("comes back though the registry had published both keys all along", async () => {
    const scene = await MirrorScene.prepare();
    const { registry, clock } = scene;
    const keys = [K.armoredPublicKey, L.armoredPublicKey];
    registry.offer("1.0.0", { content: "linux=a", by: K, keys });
    const mirror = scene.start();
    expect(await mirror.version("1.0.0")).toBe("linux=a");
    await decideOn(mirror, L, "approved");
    await decideOn(mirror, K, "revoked");
    registry.offer("1.0.0", { content: "linux=a", by: L, keys });
    clock.pass(freshness);
    expect(await mirror.version("1.0.0")).toBe("key-refused: revoked");
    clock.pass(freshness);
    expect(await mirror.version("1.0.0")).toBe("linux=a");
  });

  it("is not served by other digests under the new key, for a release that is pinned", async () => {
    const { mirror, registry, clock } = await rotate();
    registry.offer("1.0.0", { content: "linux=e", by: L });
    clock.pass(freshness);
    expect(await mirror.version("1.0.0")).toMatch(/release-conflict|refused/);
    expect(await mirror.candidates()).toContain("1.0.0 other-content");
    registry.offer("1.0.0", { content: "linux=a", by: L });
    clock.pass(freshness);
    expect(await mirror.version("1.0.0")).toBe("linux=a");
  });

  it("is served by its old signature when the revocation is undone", async () => {
    const { mirror, registry, clock } = await rotate();
    expect(await mirror.version("1.0.0")).toBe("linux=a");
    await decideOn(mirror, K, "approved");
    await decideOn(mirror, L, "revoked");
    registry.remove("3.0.0");
    clock.pass(freshness);
    expect(await mirror.version("1.0.0")).toBe("linux=a");
    expect(await mirror.version("2.0.0")).toBe("linux=b");
  });
});

describe("an attacker who signs the pinned digests", () => {
  it("takes nothing away when the registry is good again", async () => {
    const { mirror, registry, clock } = await prepareMet(K);
    await decideOn(mirror, E, "revoked");
    for (const by of [E, K]) {
      registry.offer("1.0.0", { content: "linux=a", by });
      clock.pass(freshness);
      await mirror.version("1.0.0");
    }
    expect(await mirror.version("1.0.0")).toBe("linux=a");
    expect(await mirror.index()).toBe("2.0.0 1.0.0");
  });

  it("adds no platform by it", async () => {
    const { mirror, registry, clock } = await prepareMet(K);
    registry.offer("1.0.0", { content: "linux=a darwin=e", by: E });
    clock.pass(freshness);
    expect(await mirror.version("1.0.0")).toBe("linux=a");
  });
});

describe("an approval that is taken back", () => {
  it("ends with what it named, and the pinned content comes back", async () => {
    const { scene, mirror, registry, clock } = await prepareMet(K);
    registry.offer("1.0.0", { content: "linux=e", by: E });
    clock.pass(freshness);
    expect(await mirror.version("1.0.0")).toBe("linux=a");
    const { list } = await mirror.trust.readCandidates(acme);
    const [{ sha256sums } = { sha256sums: "none" }] = list;
    const content = { type: acme.type, version: "1.0.0", sha256sums };
    await mirror.trust.decide(acme, (decisions) =>
      decide(decisions, { ...content, at, decision: "approved" }),
    );
    expect(await mirror.version("1.0.0")).toBe("linux=e");
    await mirror.trust.decide(acme, (decisions) => forget(decisions, content));
    registry.offer("1.0.0", { content: "linux=a", by: K });
    registry.offer("5.0.0", { content: "linux=f", by: E });
    clock.pass(freshness);
    for (const one of [mirror, scene.start()]) {
      expect(await one.version("1.0.0")).toBe("linux=a");
      expect(await one.version("5.0.0")).toBe("key-refused: unknown");
      expect(await one.index()).toBe("2.0.0 1.0.0");
    }
  });
});

describe("a mirror that asks no registry", () => {
  it.each([
    ["a known key", () => K],
    ["a key of single releases", () => L],
  ])("lists what %s signed after another one was revoked", async (_, by) => {
    const scene = await MirrorScene.prepare();
    const { registry, clock } = scene;
    const mirror = scene.start();
    registry.offer("1.0.0", { content: "linux=a", by: by() });
    registry.offer("2.0.0", { content: "linux=b", by: K });
    scene.store("a");
    scene.store("b");
    expect(await mirror.version("1.0.0")).toBe("linux=a");
    expect(await mirror.version("2.0.0")).toBe("linux=b");
    clock.pass(freshness);
    const offline = scene.start({ offline: true });
    expect(await offline.index()).toBe("2.0.0 1.0.0");
    await decideOn(offline, E, "revoked");
    for (let round = 0; round < 3; round++) {
      expect(await offline.index()).toBe("2.0.0 1.0.0");
      expect(await offline.version("1.0.0")).toBe("linux=a");
      expect(await offline.version("2.0.0")).toBe("linux=b");
    }
    expect(offline.alarmed()).toEqual([]);
  });
});

describe("a version of first contact that is created again long after", () => {
  it("is served with an alarm, where its key was not published then", async () => {
    const scene = await MirrorScene.prepare();
    const { registry, clock } = scene;
    const old = new Date(clock.now().getTime() - 400 * 86_400_000);
    for (const version of ["1.0.0", "1.1.0", "1.2.0"])
      registry.offer(version, { content: "linux=a", by: K, signedAt: old });
    const mirror = scene.start();
    expect(await mirror.version("1.2.0")).toBe("linux=a");
    clock.pass(365 * 86_400_000);
    registry.offer("1.0.0", { content: "linux=e", by: E, signedAt: old });
    const late = { by: E, signedAt: clock.now() };
    registry.offer("1.1.0", { content: "linux=f", ...late });
    expect(await mirror.version("1.0.0")).toBe("linux=e");
    expect(mirror.alarmed()).toEqual(["key-new 1.0.0"]);
    // Dated after first contact: a candidate.
    expect(await mirror.version("1.1.0")).toBe("key-refused: unknown");
  });
});

describe("two processes, of which one notes the first key of a provider,", () => {
  /** Both have looked at the records of trust a moment before; the other one meets 3.0.0 first. */
  async function signFirst(next: Signer) {
    const scene = await MirrorScene.prepare({ signatures: "when-published" });
    const { registry, clock } = scene;
    registry.offer("1.0.0", { content: "linux=a" });
    const [one, other] = [scene.start(), scene.start()];
    expect(await one.version("1.0.0")).toBe("linux=a");
    registry.offer("2.0.0", { content: "linux=b", by: K });
    registry.offer("3.0.0", { content: "linux=c", by: next });
    clock.pass(freshness);
    expect(await other.version("1.0.0")).toBe("linux=a");
    expect(await one.version("2.0.0")).toBe("linux=b");
    const said = await other.version("3.0.0");
    expect(await other.version("2.0.0")).toBe("linux=b");
    clock.pass(lookAgain);
    expect(await one.version("3.0.0")).toBe(said);
    const raised = [...one.alarmed(), ...other.alarmed()];
    return {
      said,
      raised: raised.filter((one) => one.startsWith("key-refused")),
    };
  }

  it("agree on it at once", async () => {
    const { said, raised } = await signFirst(K);
    expect([said, raised]).toEqual(["linux=c", []]);
  });

  it("take no second one", async () => {
    const { said, raised } = await signFirst(E);
    expect(said).toBe("key-refused: unknown");
    expect(new Set(raised)).toEqual(new Set(["key-refused 3.0.0"]));
  });
});
