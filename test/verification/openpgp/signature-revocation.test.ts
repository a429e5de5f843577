import { describe, expect, it } from "vitest";
import {
  Certificate,
  day,
  lastYear,
  mayBoth,
  mayCertify,
  outcome,
  signDocument,
  today,
} from "./certificates.ts";
import {
  forgeKey,
  keyFlags,
  packet,
  revocationReason,
  seconds,
  type ForgedSignature,
  type Subpacket,
} from "./forge.ts";

const keyRevocation = 0x20;
const subkeyRevocation = 0x28;
const userIdRevocation = 0x30;
const signatureLifetime = (value: number): Subpacket => seconds(3, value);

/** Reason for revocation, when it was made, and whether it counts at all. */
const revocations: readonly (readonly [
  string,
  Partial<ForgedSignature>,
  string,
])[] = [
  ["without a reason", {}, "revoked"],
  ["as superseded", { subpackets: [revocationReason(1)] }, "revoked"],
  ["as compromised", { subpackets: [revocationReason(2)] }, "revoked"],
  ["as retired", { subpackets: [revocationReason(3)] }, "revoked"],
  [
    "after the signature was made",
    { createdAt: today - day, subpackets: [revocationReason(1)] },
    "revoked",
  ],
  [
    "in the future",
    { createdAt: today + day, subpackets: [revocationReason(1)] },
    "ok",
  ],
  [
    "in the future, as compromised",
    { createdAt: today + day, subpackets: [revocationReason(2)] },
    "revoked",
  ],
  ["for a time that is over", { subpackets: [signatureLifetime(day)] }, "ok"],
];

describe.each(revocations)("revoked %s", (_name, forged, expected) => {
  it(`a primary key is ${expected}`, async () => {
    const certificate = new Certificate()
      .direct(keyRevocation, forged)
      .userId("maker");
    expect(
      await outcome(
        [certificate],
        signDocument(certificate.primary),
        "opentofu",
      ),
    ).toBe(expected);
  });

  it(`a subkey is ${expected}`, async () => {
    const subkey = forgeKey(lastYear);
    const certificate = new Certificate()
      .userId("maker", [keyFlags(mayCertify)])
      .signingSubkey(subkey)
      .onSubkey(subkey, subkeyRevocation, forged);
    expect(await outcome([certificate], signDocument(subkey), "opentofu")).toBe(
      expected,
    );
  });

  it(`a primary user ID is ${expected}`, async () => {
    const certificate = new Certificate()
      .userId("maker")
      .onUserId("maker", userIdRevocation, forged);
    expect(
      await outcome(
        [certificate],
        signDocument(certificate.primary),
        "opentofu",
      ),
    ).toBe(expected);
  });
});

describe("a revocation elsewhere", () => {
  it("of the primary key also takes its subkeys away", async () => {
    const subkey = forgeKey(lastYear);
    const certificate = new Certificate()
      .direct(keyRevocation)
      .userId("maker")
      .signingSubkey(subkey);
    expect(await outcome([certificate], signDocument(subkey))).toBe("revoked");
  });

  it("of another subkey does not count", async () => {
    const [subkey, other] = [forgeKey(lastYear), forgeKey(lastYear)];
    const certificate = new Certificate()
      .userId("maker")
      .signingSubkey(other)
      .onSubkey(other, subkeyRevocation)
      .signingSubkey(subkey);
    expect(await outcome([certificate], signDocument(subkey))).toBe("ok");
  });

  it("of a user ID does not count while there is one that is not revoked", async () => {
    const certificate = new Certificate()
      .userId("old")
      .onUserId("old", userIdRevocation)
      .userId("new");
    expect(
      await outcome([certificate], signDocument(certificate.primary)),
    ).toBe("ok");
  });

  it("that is all a user ID has leaves no key that may sign", async () => {
    const certificate = new Certificate();
    certificate.packets.push(packet(13, Buffer.from("maker")));
    certificate.onUserId("maker", userIdRevocation);
    expect(
      await outcome([certificate], signDocument(certificate.primary)),
    ).toBe("unknown-issuer");
  });

  it("of a key of version 6 counts beside its direct-key signature", async () => {
    const certificate = new Certificate(forgeKey(lastYear, { version: 6 }))
      .direct(0x1f, { subpackets: [keyFlags(mayBoth)] })
      .direct(keyRevocation, { createdAt: lastYear + 1 });
    expect(
      await outcome([certificate], signDocument(certificate.primary)),
    ).toBe("revoked");
  });

  it("by another key makes the certificate unusable", async () => {
    const other = new Certificate().direct(keyRevocation);
    const certificate = new Certificate();
    certificate.packets.push(...other.packets.slice(1));
    certificate.userId("maker");
    expect(
      await outcome([certificate], signDocument(certificate.primary)),
    ).toBe("unusable-key");
  });
});
