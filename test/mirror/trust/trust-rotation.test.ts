import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createCertifiedSigner } from "../../scenes/certified-signers.ts";
import {
  countAlarms,
  digestsIn,
  eventually,
  listedIn,
  outcomeOf,
} from "../../scenes/provider-requests.ts";
import { signer, soon, TrustScene } from "../../scenes/trust-scene.ts";

let scene: TrustScene;

beforeAll(async () => {
  scene = await TrustScene.start();
});

afterAll(() => scene.stop());

describe("when a publisher changes keys", () => {
  it("with an overlap, releases of the old key go on beside a published new one, which is approved once", async () => {
    const [old, next] = [await signer("Old"), await signer("Next")];
    const signingKeys = [old, next];
    await scene.contact("rotated", old);
    await scene.publish("rotated", "1.0.0", old, { signingKeys });
    await scene.publish("rotated", "1.1.0", old, { signingKeys });
    expect(listedIn(await scene.ask("rotated").index())).toEqual([
      "1.0.0",
      "1.1.0",
    ]);
    await scene.publish("rotated", "1.2.0", next, { signingKeys });
    expect(outcomeOf(await scene.ask("rotated").version("1.2.0"))).toBe(
      "451 key-refused",
    );
    const forProvider = ["--for", "rotated/thing"];
    await scene.trust("approve", "--key", next.fingerprint, ...forProvider);
    await scene.publish("rotated", "1.3.0", next, { signingKeys: [next] });
    await eventually(
      async () => listedIn(await scene.ask("rotated").index()),
      (listed) => listed.length === 4,
      soon,
    );
  });

  it("a new subkey of the same primary key is the same key", async () => {
    const primary = await createCertifiedSigner("Primary");
    const renewed = await primary.withNewSubkey();
    expect(renewed.armoredPublicKey).not.toBe(primary.armoredPublicKey);
    await scene.contact("subkeys", primary);
    await scene.publish("subkeys", "1.1.0", renewed);
    expect(listedIn(await scene.ask("subkeys").index())).toEqual([
      "1.0.0",
      "1.1.0",
    ]);
    await scene.registry.publish({
      namespace: "subkeys",
      type: "thing",
      version: "1.0.0",
      signer: renewed,
    });
    expect((await scene.ask("subkeys").version("1.0.0")).status).toBe(200);
    expect(scene.auditOf("subkeys", "new-key")).toHaveLength(1);
  });

  it("a key that its owner revokes takes what it signed out of service, also when the origin goes away afterwards", async () => {
    const owner = await createCertifiedSigner("Owner");
    const stillGood = await signer("Still good");
    await scene.publish("revoked", "0.9.0", stillGood);
    const release = await scene.publish("revoked", "1.0.0", owner);
    expect((await scene.ask("revoked").version("0.9.0")).status).toBe(200);
    expect((await scene.ask("revoked").archive("1.0.0")).status).toBe(200);
    scene.registry.offer(release, { signingKeys: [await owner.revoked()] });
    const refused = "451 signature-refused";
    expect(outcomeOf(await scene.ask("revoked").version("1.0.0"))).toBe(
      refused,
    );
    expect(outcomeOf(await scene.ask("revoked").archive("1.0.0"))).toBe(
      refused,
    );
    expect(listedIn(await scene.ask("revoked").index())).toEqual(["0.9.0"]);
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
    expect(outcomeOf(await scene.ask("revoked").archive("1.0.0"))).toBe(
      refused,
    );
    await scene.revive({ offline: true });
    expect(outcomeOf(await scene.ask("revoked").archive("1.0.0"))).toBe(
      refused,
    );
    await scene.registry.restart();
    await scene.revive();
    scene.registry.offer(release);
    expect((await scene.ask("revoked").version("1.0.0")).status).toBe(200);
    expect(listedIn(await scene.ask("revoked").index())).toEqual([
      "0.9.0",
      "1.0.0",
    ]);
  });

  it("old releases that are signed again with the same digests keep serving, with an alarm, and the new key is not thereby known", async () => {
    const owner = await createCertifiedSigner("Owner");
    const next = await signer("Next");
    const release = await scene.publish("anew", "1.0.0", owner);
    expect((await scene.ask("anew").archive("1.0.0")).status).toBe(200);
    const signingKeys = [next, await owner.revoked()];
    const alarms = await countAlarms(scene.mirror, "key-new");
    await scene.publish("anew", "1.0.0", next, {
      signingKeys,
      signedAt: new Date(),
    });
    const answer = await scene.ask("anew").version("1.0.0");
    expect(digestsIn(answer)).toEqual({
      linux_amd64: release.archive("linux_amd64").sha256,
    });
    expect((await scene.ask("anew").archive("1.0.0")).status).toBe(200);
    expect(scene.auditOf("anew", "judged-again")).toMatchObject([
      { verdict: "refused", fingerprint: owner.fingerprint },
    ]);
    expect(scene.auditOf("anew", "new-key").slice(1)).toMatchObject([
      {
        verdict: "accepted",
        rule: "trust: same-digests",
        fingerprint: next.fingerprint,
        version: "1.0.0",
      },
    ]);
    expect(await countAlarms(scene.mirror, "key-new")).toBe(alarms + 1);
    await scene.publish("anew", "1.1.0", next, { signingKeys });
    expect(outcomeOf(await scene.ask("anew").version("1.1.0"))).toBe(
      "451 key-refused",
    );
    expect(listedIn(await scene.ask("anew").index())).toEqual(["1.0.0"]);
  });

  it("a key that an operator revokes signs nothing any more, and other keys go on", async () => {
    const [bad, good] = [await signer("Bad"), await signer("Good")];
    await scene.publish("distrusted", "1.0.0", good);
    await scene.publish("distrusted", "1.1.0", bad);
    await scene.publish("distrusted", "1.2.0", bad);
    for (const version of ["1.0.0", "1.1.0"])
      expect((await scene.ask("distrusted").archive(version)).status).toBe(200);
    await scene.trust(
      "revoke",
      "--key",
      bad.fingerprint,
      "--for",
      "registry.terraform.io/distrusted",
    );
    await eventually(
      async () => outcomeOf(await scene.ask("distrusted").archive("1.1.0")),
      (got) => got === "451 key-refused",
      soon,
    );
    expect(listedIn(await scene.ask("distrusted").index())).toEqual(["1.0.0"]);
    await scene.publish("distrusted", "2.0.0", bad);
    // A look for the background may still wait for the list of before.
    await eventually(
      async () => outcomeOf(await scene.ask("distrusted").version("2.0.0")),
      (got) => got === "451 key-refused",
      soon,
    );
    expect((await scene.ask("distrusted").archive("1.0.0")).status).toBe(200);
    const { keys } = (await scene.listedTrust("distrusted")) ?? {};
    expect(keys).toMatchObject([
      { fingerprint: bad.fingerprint, decision: "revoked" },
    ]);
  });
});
