import { describe, expect, it } from "vitest";
import { decide } from "../../../src/trust/decisions.ts";
import { createSigner } from "../../fakes/signing.ts";
import { prepareMet } from "../../scenes/met-provider.ts";
import {
  acme,
  freshness,
  makeSigners,
  MirrorScene,
} from "../../scenes/mirror-in-process.ts";

const { K, L, E } = await makeSigners();

describe("what was refused", () => {
  it("for its key blocks nothing: the publisher's own release is served when it comes", async () => {
    const { scene, mirror, registry, clock } = await prepareMet(K);
    for (const version of ["3.0.0", "4.0.0"])
      registry.offer(version, { content: "linux=e", by: E });
    clock.pass(freshness);
    expect(await mirror.version("3.0.0")).toBe("key-refused: unknown");
    expect(await mirror.index()).toBe("2.0.0 1.0.0");
    for (const version of ["3.0.0", "4.0.0"])
      registry.offer(version, { content: "linux=c", by: K });
    clock.pass(freshness);
    for (const one of [mirror, scene.start()]) {
      expect(await one.version("3.0.0")).toBe("linux=c");
      expect(await one.version("4.0.0")).toBe("linux=c");
      expect(await one.index()).toBe("4.0.0 3.0.0 2.0.0 1.0.0");
      expect(await one.candidates()).toEqual([]);
    }
    expect(mirror.alarmed()).not.toContain("release-replaced 3.0.0");
  });

  it("because it is unsigned blocks nothing either", async () => {
    const { mirror, registry, clock } = await prepareMet(K, {
      signatures: "when-published",
    });
    registry.offer("3.0.0", { content: "linux=e" });
    clock.pass(freshness);
    expect(await mirror.version("3.0.0")).toBe("key-refused: unknown");
    registry.offer("3.0.0", { content: "linux=c", by: K });
    clock.pass(freshness);
    expect(await mirror.version("3.0.0")).toBe("linux=c");
    expect(await mirror.index()).toBe("3.0.0 2.0.0 1.0.0");
  });

  it("with the same archive for one platform blocks nothing when the publisher signs it", async () => {
    const { mirror, registry, clock } = await prepareMet(K);
    const keys = [K.armoredPublicKey, L.armoredPublicKey];
    registry.offer("3.0.0", { content: "linux=c", by: L, keys });
    clock.pass(freshness);
    expect(await mirror.version("3.0.0")).toBe("key-refused: unknown");
    registry.offer("3.0.0", { content: "linux=c", by: K, keys });
    clock.pass(freshness);
    expect(await mirror.version("3.0.0")).toBe("linux=c");
  });
});

describe("a release that was unsigned at first", () => {
  it("is served with every archive that its publisher signs later, under stricter rules", async () => {
    const scene = await MirrorScene.prepare({ signatures: "when-published" });
    const { registry, clock } = scene;
    registry.offer("1.0.0", { content: "linux=a" });
    expect(await scene.start().version("1.0.0")).toBe("linux=a");
    registry.offer("1.0.0", { content: "linux=a win=b", by: K });
    clock.pass(freshness);
    const strict = scene.start({ signatures: "required" });
    expect(await strict.version("1.0.0")).toBe("linux=a win=b");
  });
});

describe("a release whose signature no longer holds", () => {
  const makeExpired = () =>
    createSigner({
      ...{ name: "X", algorithm: "ed25519" },
      createdAt: new Date("2024-01-01T00:00:00Z"),
      expiresAfter: 86_400,
    });

  it("is served under an approved key of the same archives, with any other lines in SHA256SUMS", async () => {
    const expired = await makeExpired();
    const scene = await MirrorScene.prepare();
    const { registry, clock } = scene;
    registry.offer("1.0.0", { content: "linux=a", by: expired });
    expect(await scene.start().version("1.0.0")).toBe("linux=a");
    clock.pass(freshness);
    const strict = scene.start({ profile: "enforce" });
    expect(await strict.version("1.0.0")).toBe(
      "signature-refused: key-expired",
    );
    await strict.trust.decide(acme, (decisions) =>
      decide(decisions, {
        ...{ fingerprint: L.fingerprint, decision: "approved" },
        ...{ type: null, version: null, at: "2026-01-01T00:00:00.000Z" },
      }),
    );
    const more = `${"0".repeat(64)}  terraform-provider-thing_1.0.0_manifest.json\n`;
    registry.offer("1.0.0", { content: "linux=a", by: L, more });
    clock.pass(freshness);
    expect(await strict.version("1.0.0")).toBe("linux=a");
    expect(await strict.index()).toBe("1.0.0");
  });

  it("takes no archive of another signer, not even beside its own", async () => {
    const expired = await makeExpired();
    const scene = await MirrorScene.prepare();
    const { registry, clock } = scene;
    registry.offer("1.0.0", { content: "linux=a", by: expired });
    expect(await scene.start().version("1.0.0")).toBe("linux=a");
    const keys = [expired.armoredPublicKey, E.armoredPublicKey];
    registry.offer("1.0.0", { content: "linux=a win=e", by: E, keys });
    clock.pass(freshness);
    for (const profile of ["enforce", "terraform"] as const) {
      const mirror = scene.start({ profile });
      expect(await mirror.version("1.0.0")).not.toContain("win");
      expect(await mirror.candidates()).toEqual(["1.0.0 unknown"]);
    }
    expect(await scene.start().version("1.0.0")).toBe("linux=a");
  });

  it("is served again when it holds again, with every archive that it named", async () => {
    const scene = await MirrorScene.prepare();
    const { registry, clock } = scene;
    registry.offer("1.0.0", { content: "linux=a win=b", by: K });
    expect(await scene.start().version("1.0.0")).toBe("linux=a win=b");
    registry.offer("1.0.0", { content: "linux=a", by: K });
    clock.pass(freshness);
    expect(await scene.start().version("1.0.0")).toBe("linux=a win=b");
    registry.offer("1.0.0", { content: "linux=a", by: L });
    clock.pass(freshness);
    expect(await scene.start().version("1.0.0")).toBe("linux=a win=b");
  });
});
