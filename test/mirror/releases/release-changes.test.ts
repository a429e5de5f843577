import { describe, expect, it } from "vitest";
import { createSigner } from "../../fakes/signing.ts";
import { outcomeOf, requestsFor } from "../../scenes/provider-requests.ts";
import { startSeenReleases } from "../../scenes/seen-releases.ts";

const scene = await startSeenReleases();

describe("a release that only grows or shrinks", () => {
  it("takes a platform that is added later", async () => {
    const first = await scene.seen("grown");
    const grown = await scene.registry.publish({
      ...first.options,
      platforms: ["linux_amd64", "darwin_arm64"],
    });
    await scene.expectServed("grown", grown);
    expect(scene.auditOf("grown", "replaced")).toEqual([]);
  });
});

describe("when the terms change", () => {
  it("the profile decides again at the restart, also with the origin down, and pinned checksums still hold", async () => {
    const expired = await createSigner({
      name: "Expired",
      createdAt: new Date("2020-01-01T00:00:00Z"),
      expiresAfter: 6 * 365 * 86_400,
    });
    const first = await scene.seen("terms", { signer: expired });
    const ask = () => requestsFor(scene.mirror, "terms");
    await scene.restart({ profile: "enforce" });
    await scene.registry.stop();
    expect(await ask().outcome("1.0.0")).toBe("451 signature-refused");
    expect(await ask().delivery("1.0.0")).toBe("451 signature-refused");
    await scene.registry.restart();
    expect(await ask().outcome("1.0.0")).toBe("451 signature-refused");
    const sound = await createSigner({ name: "Sound" });
    await scene.registry.republish(first, { signer: sound });
    // The pinned content is refused for its own signature.
    expect(await ask().outcome("1.0.0")).toBe("451 signature-refused");
    expect(scene.auditOf("terms", "replaced")).toMatchObject([
      {
        verdict: "refused",
        rule: "pinned checksums",
        fingerprint: sound.fingerprint,
      },
    ]);
    scene.registry.offer(first);
    await scene.restart({ profile: "terraform" });
    await scene.expectServed("terms", first);
  });

  it("an unsigned release is refused once signatures are required, also by an offline mirror", async () => {
    await scene.restart({ signatures: "when-published" });
    const first = await scene.seen("unsigned", {
      signingKeys: [],
      signature: "unlisted",
    });
    await scene.expectServed("unsigned", first);
    await scene.restart({}, { offline: true });
    const ask = requestsFor(scene.mirror, "unsigned");
    expect(await ask.outcome("1.0.0")).toBe("451 signature-missing");
    expect(outcomeOf(await ask.index())).toBe("451 nothing-admitted");
    await scene.restart({});
    expect(await requestsFor(scene.mirror, "unsigned").delivery("1.0.0")).toBe(
      "451 signature-missing",
    );
  });
});
