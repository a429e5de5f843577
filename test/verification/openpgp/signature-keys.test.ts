import { describe, expect, it } from "vitest";
import {
  Certificate,
  day,
  decide,
  mayBoth,
  outcome,
  signDocument,
  today,
  lastYear,
} from "./certificates.ts";
import { armor, forgeKey, keyFlags, seconds } from "./forge.ts";

const expired = [keyFlags(mayBoth), seconds(9, day)];
const signer = forgeKey(lastYear);
const good = new Certificate(signer).userId("maker");
const outdated = new Certificate(signer).userId("maker", expired);
const revoked = new Certificate(signer).direct(0x20).userId("maker");
const foreign = new Certificate().userId("somebody else");
const signature = signDocument(signer);
const outdatedSelf = new Certificate(signer).userId("maker", [
  keyFlags(mayBoth),
  seconds(3, day),
]);
const garbage = "no key at all";

describe("several keys, in the registry's order", () => {
  it.each([
    ["terraform", [foreign, good], "ok"],
    ["terraform", [good, garbage], "ok"],
    ["terraform", [garbage, good], "unreadable-key"],
    ["terraform", [foreign, garbage, good], "unreadable-key"],
    ["terraform", [outdated, good], "keyExpired"],
    ["terraform", [revoked, good], "revoked"],
    ["terraform", [], "unknown-issuer"],
    ["terraform", [foreign, foreign], "unknown-issuer"],
    ["opentofu", [outdated, good], "ok"],
    ["opentofu", [outdated, foreign], "keyExpired"],
    ["opentofu", [outdated, outdatedSelf], "keyExpired"],
    ["opentofu", [outdatedSelf, outdated], "sigExpired"],
    ["opentofu", [outdated, garbage], "unreadable-key"],
    ["opentofu", [outdated, revoked], "revoked"],
    ["enforce", [outdated, good], "ok"],
    ["enforce", [outdated, foreign], "key-expired"],
    ["strict", [outdated, good], "ok"],
    ["strict", [outdated], "key-expired"],
  ] as const)("under %s: case %#", async (profile, keys, expected) => {
    expect(await outcome([...keys], signature, profile)).toBe(expected);
  });

  it("are also found in one armored block", async () => {
    const block = armor(Buffer.concat([foreign.octets(), good.octets()]));
    expect(await outcome([block], signature)).toBe("ok");
  });

  it("are told apart by the fingerprint of the one that signed", async () => {
    const subkey = forgeKey(lastYear);
    const certificate = new Certificate().userId("maker").signingSubkey(subkey);
    expect(
      await decide([foreign, certificate], signDocument(subkey)),
    ).toMatchObject({
      signedBy: certificate.primary.fingerprint,
      signingKey: subkey.fingerprint,
    });
  });
});

describe("under strict", () => {
  it("RSA below 2047 bits is refused", async () => {
    const rsa = forgeKey(lastYear, { kind: "rsa1024" });
    const weak = new Certificate(rsa).userId("maker");
    const decision = await decide([weak], signDocument(rsa), "strict");
    expect(decision).toMatchObject({
      reason: "weak",
      detail: expect.stringContaining("1024 bits") as unknown,
    });
  });

  it("an expired key is refused", async () => {
    expect(await outcome([outdated], signature, "strict")).toBe("key-expired");
    expect(
      await outcome(
        [good],
        signDocument(signer, { createdAt: today - 1 }),
        "strict",
      ),
    ).toBe("ok");
  });
});
