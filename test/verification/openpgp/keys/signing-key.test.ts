import { describe, expect, it } from "vitest";
import { failing } from "../../../scenes/failing.ts";
import { parseFingerprint } from "../../../../src/verification/openpgp/keys/signing-key.ts";
import {
  Certificate,
  lastYear,
  mayBoth,
  mayCertify,
  outcome,
  signDocument,
} from "../certificates.ts";
import { forgeKey, issuerKeyId, keyFlags } from "../forge.ts";

describe("a fingerprint", () => {
  it("is all 40 or 64 hexadecimal digits", () => {
    const v4 = "C874011F0AB405110D02105534365D9472D7468F";
    expect(parseFingerprint(v4.toLowerCase())).toBe(v4);
    expect(parseFingerprint("A".repeat(64))).toBe("A".repeat(64));
    expect(
      parseFingerprint("C874 011F 0AB4 0511 0D02  1055 3436 5D94 72D7 468F"),
    ).toBe(v4);
  });

  it.each([
    "34365D9472D7468F",
    "0x34365D9472D7468F",
    "",
    "G".repeat(40),
    "A".repeat(41),
  ])("is not %j", (text) => {
    expect(() => parseFingerprint(text)).toThrow(failing("malformed-address"));
  });
});

describe("who may sign", () => {
  it.each([
    ["a primary without key flags", []],
    ["a primary that only certifies", [keyFlags(mayCertify)]],
    ["a primary whose flags are empty", [{ type: 27, content: Buffer.of() }]],
  ])("not %s", async (_name, subpackets) => {
    const certificate = new Certificate().userId("maker", subpackets);
    expect(
      await outcome([certificate], signDocument(certificate.primary)),
    ).toBe("unknown-issuer");
  });

  it("not a subkey without key flags, nor one that only encrypts", async () => {
    for (const subpackets of [[], [keyFlags(0x0c)]]) {
      const subkey = forgeKey(lastYear);
      const certificate = new Certificate()
        .userId("maker")
        .signingSubkey(subkey, { subpackets });
      expect(await outcome([certificate], signDocument(subkey))).toBe(
        "unknown-issuer",
      );
    }
  });

  it("what the newest self-signature says, not an older one", async () => {
    const certificate = new Certificate()
      .userId("maker", [keyFlags(mayBoth)])
      .onUserId("maker", 0x13, {
        createdAt: lastYear + 1,
        subpackets: [keyFlags(mayCertify)],
      });
    expect(
      await outcome([certificate], signDocument(certificate.primary)),
    ).toBe("unknown-issuer");
  });

  it("not a key whose ID another key only claims", async () => {
    const certificate = new Certificate().userId("maker");
    const other = forgeKey(lastYear);
    const claimed = {
      anonymous: true,
      unhashed: [issuerKeyId(certificate.primary)],
    };
    expect(await outcome([certificate], signDocument(other, claimed))).toBe(
      "bad-signature",
    );
    const ofAnotherKind = forgeKey(lastYear, { kind: "rsa2048" });
    expect(
      await outcome([certificate], signDocument(ofAnotherKind, claimed)),
    ).toBe("bad-signature");
  });
});
