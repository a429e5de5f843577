import { describe, expect, it } from "vitest";
import { createCertifiedSigner } from "../../scenes/certified-signers.ts";
import { signer, TrustScene } from "../../scenes/trust-scene.ts";

const scene = await TrustScene.start();

describe("when a publisher changes keys", () => {
  it("a new subkey of the same primary key is the same key", async () => {
    const primary = await createCertifiedSigner("Primary");
    const renewed = await primary.withNewSubkey();
    expect(renewed.armoredPublicKey).not.toBe(primary.armoredPublicKey);
    await scene.contact("subkeys", primary);
    await scene.publish("subkeys", "1.1.0", renewed);
    expect(await scene.ask("subkeys").listed()).toEqual(["1.0.0", "1.1.0"]);
    await scene.registry.publish({
      namespace: "subkeys",
      type: "thing",
      version: "1.0.0",
      signer: renewed,
    });
    expect(await scene.ask("subkeys").outcome("1.0.0")).toBe("200");
    expect(scene.auditOf("subkeys", "new-key")).toHaveLength(1);
  });

  it("a key that its owner revokes takes what it signed out of service, also when the origin goes away afterwards", async () => {
    const owner = await createCertifiedSigner("Owner");
    const stillGood = await signer("Still good");
    await scene.publish("revoked", "0.9.0", stillGood);
    const release = await scene.publish("revoked", "1.0.0", owner);
    expect(await scene.ask("revoked").outcome("0.9.0")).toBe("200");
    expect(await scene.ask("revoked").delivery("1.0.0")).toBe("200");
    scene.registry.offer(release, { signingKeys: [await owner.revoked()] });
    const refused = "451 signature-refused";
    expect(await scene.ask("revoked").outcome("1.0.0")).toBe(refused);
    expect(await scene.ask("revoked").delivery("1.0.0")).toBe(refused);
    expect(await scene.ask("revoked").listed()).toEqual(["0.9.0"]);
    expect(scene.auditOf("revoked", "judged-again")).toMatchObject([
      {
        verdict: "refused",
        reason: "signature-refused",
        version: "1.0.0",
        fingerprint: owner.fingerprint,
        detail: expect.stringContaining("revoked") as unknown,
      },
    ]);
    // Operators can do nothing about it.
    const { candidates } = (await scene.listedTrust("revoked")) ?? {};
    expect(candidates).toEqual([]);
    await scene.registry.stop();
    expect(await scene.ask("revoked").delivery("1.0.0")).toBe(refused);
    await scene.revive({ offline: true });
    expect(await scene.ask("revoked").delivery("1.0.0")).toBe(refused);
    await scene.registry.restart();
    await scene.revive();
    scene.registry.offer(release);
    expect(await scene.ask("revoked").outcome("1.0.0")).toBe("200");
    expect(await scene.ask("revoked").listed()).toEqual(["0.9.0", "1.0.0"]);
  });
});
