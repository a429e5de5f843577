import { beforeAll, describe, expect, it } from "vitest";
import { decide, type KeyDecision } from "../../../src/trust/decisions.ts";
import type { Signer } from "../../fakes/signing.ts";
import { prepareMet } from "../../scenes/met-provider.ts";
import {
  acme,
  freshness,
  makeSigners,
  MirrorScene,
  type MirrorInProcess,
} from "../../scenes/mirror-in-process.ts";

let K: Signer;
let L: Signer;
beforeAll(async () => {
  ({ K, L } = await makeSigners());
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
});
