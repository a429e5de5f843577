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
import {
  armor,
  forgeKey,
  forgeSignature,
  keyFlags,
  packet,
  seconds,
} from "./forge.ts";

const expired = [keyFlags(mayBoth), seconds(9, day)];
const signer = forgeKey(lastYear);
const good = new Certificate(signer).userId("maker");
const outdated = new Certificate(signer).userId("maker", expired);
const revoked = new Certificate(signer).direct(0x20).userId("maker");
const foreign = new Certificate().userId("another maker");
const signature = signDocument(signer);
const outdatedSelf = new Certificate(signer).userId("maker", [
  keyFlags(mayBoth),
  seconds(3, day),
]);
const garbage = "no key at all";

const forgeBinding = (type: number) =>
  forgeSignature(signer, Buffer.of(), { type, createdAt: lastYear });
const bindingOfAnother = packet(2, forgeBinding(0x18));
const certification = packet(2, forgeBinding(0x13));
const cut = packet(2, forgeBinding(0x18).subarray(0, -1));
const undated = packet(2, Buffer.of(4, 0x18, 27, 8, 0, 0, 0, 0, 0, 0));
/** A second fault before the next key makes the whole block unreadable. */
const both = "unreadable-key";

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

  it.each([
    ["no fault", [], "ok"],
    ["one that does not verify", [bindingOfAnother], "ok"],
    ["one of another type", [certification], "ok"],
    ["a cut one", [cut], "ok"],
    ["one without a creation time", [undated], "ok"],
    ["one that does not verify, and a cut one", [bindingOfAnother, cut], both],
    ["one of another type, and a cut one", [certification, cut], both],
    ["one of another type, and one undated", [certification, undated], both],
    ["a cut one, and one that does not verify", [cut, bindingOfAnother], "ok"],
    ["two cut ones", [cut, cut], both],
  ] as const)(
    "are read beside one whose subkey is followed by %s, as go-crypto reads them",
    async (_, faults, expected) => {
      const beside = new Certificate().userId("another maker");
      beside.signingSubkey(forgeKey(lastYear)).packets.push(...faults);
      const block = armor(Buffer.concat([good.octets(), beside.octets()]));
      expect(await outcome([block], signature)).toBe(expected);
    },
  );

  it("verify nothing that says to be of another algorithm, be its arithmetic the same", async () => {
    const rsa = forgeKey(lastYear, { kind: "rsa2048" });
    const certificate = new Certificate(rsa).userId("maker");
    const signOnly = { ...rsa, algorithm: 3 };
    expect(await outcome([certificate], signDocument(rsa))).toBe("ok");
    expect(await outcome([certificate], signDocument(signOnly))).toBe(
      "bad-signature",
    );
  });

  it("are distinguished by the fingerprint of the one that signed", async () => {
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

it.each([
  ["terraform", "unreadable-key"],
  ["strict", "unreadable-key"],
  ["opentofu", "ok"],
  ["enforce", "ok"],
] as const)(
  "armor with blanks at the ends of its lines is, under %s: %s",
  async (profile, expected) => {
    const armored = good.armor().replaceAll("\n", " \n");
    const made = signDocument(signer, { createdAt: today - 1 });
    expect(await outcome([armored], made, profile)).toBe(expected);
  },
);

describe("under strict", () => {
  it("RSA of 2047 bits is accepted", async () => {
    const rsa = forgeKey(lastYear, { kind: "rsa2047" });
    const certificate = new Certificate(rsa).userId("maker");
    const made = signDocument(rsa, { createdAt: today - 1 });
    expect(await outcome([certificate], made, "strict")).toBe("ok");
  });

  it("RSA below 2047 bits is refused", async () => {
    const rsa = forgeKey(lastYear, { kind: "rsa1024" });
    const weak = new Certificate(rsa).userId("maker");
    const decision = await decide([weak], signDocument(rsa), "strict");
    expect(decision).toMatchObject({
      reason: "weak",
      detail: expect.stringContaining("1024 bits") as unknown,
    });
  });

  const sha1 = { hash: 2 };
  const rsa = () => forgeKey(lastYear, { kind: "rsa2048" });
  it.each([
    ["in the signature", {}, {}, {}, sha1],
    ["in the self-signature", sha1, {}, {}, {}],
    ["in the binding of the subkey", {}, sha1, {}, {}],
    ["in its cross-signature", {}, {}, sha1, {}],
  ])("SHA-1 %s is refused", async (_where, self, binding, cross, own) => {
    const subkey = rsa();
    const key = new Certificate(rsa());
    key.packets.push(packet(13, Buffer.from("maker")));
    key
      .onUserId("maker", 0x13, { subpackets: [keyFlags(mayBoth)], ...self })
      .signingSubkey(subkey, binding, cross);
    const made = signDocument(subkey, own);
    expect(await outcome([key], made, "strict")).toBe("weak");
    expect(await outcome([key], made)).toBe("ok");
  });

  it("DSA is refused, of the primary key too", async () => {
    const dsa = forgeKey(lastYear, { kind: "dsa" });
    const subkey = forgeKey(lastYear);
    const key = new Certificate(dsa).userId("maker").signingSubkey(subkey);
    for (const by of [dsa, subkey]) {
      expect(await outcome([key], signDocument(by), "strict")).toBe("weak");
      expect(await outcome([key], signDocument(by))).toBe("ok");
    }
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
