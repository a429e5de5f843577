import { describe, expect, it } from "vitest";
import {
  Certificate,
  day,
  decide,
  lastYear,
  mayBoth,
  mayCertify,
  outcome,
  signDocument,
  today,
} from "./certificates.ts";
import {
  forgeKey,
  forgeSignature,
  keyFlags,
  notation,
  packet,
  seconds,
  type ForgedSignature,
  type Subpacket,
} from "./forge.ts";

const keyRevocation = 0x20;
const signatureLifetime = (value: number): Subpacket => seconds(3, value);
const keyLifetime = (value: number): Subpacket => seconds(9, value);

describe("expiry", () => {
  const past = keyLifetime(30 * day);
  const future = keyLifetime(730 * day);

  it.each([
    ["terraform", "keyExpired"],
    ["opentofu", "keyExpired"],
    ["enforce", "key-expired"],
    ["strict", "key-expired"],
  ] as const)("of the key, now, under %s: %s", async (profile, expected) => {
    const certificate = new Certificate().userId("maker", [
      keyFlags(mayBoth),
      past,
    ]);
    expect(
      await outcome([certificate], signDocument(certificate.primary), profile),
    ).toBe(expected);
  });

  it.each([
    ["terraform", "signature-expired"],
    ["opentofu", "sigExpired"],
    ["enforce", "signature-expired"],
    ["strict", "signature-expired"],
  ] as const)("of the signature under %s: %s", async (profile, expected) => {
    const certificate = new Certificate().userId("maker");
    const signature = signDocument(certificate.primary, {
      subpackets: [signatureLifetime(day)],
    });
    expect(await outcome([certificate], signature, profile)).toBe(expected);
  });

  it("of a signature within the primary key's own does not count", async () => {
    const primary = forgeKey(lastYear);
    const content = forgeSignature(primary, Buffer.of(), {
      ...{ type: 0x19, createdAt: lastYear },
      subpackets: [signatureLifetime(day)],
    });
    const certificate = new Certificate(primary).userId("maker", [
      keyFlags(mayBoth),
      { type: 32, content },
    ]);
    expect(await outcome([certificate], signDocument(primary))).toBe("ok");
  });

  it("is named in a warning when it is accepted", async () => {
    const certificate = new Certificate().userId("maker", [
      keyFlags(mayBoth),
      past,
    ]);
    const decision = await decide(
      [certificate],
      signDocument(certificate.primary),
    );
    expect(decision).toMatchObject({
      accepted: true,
      warning: expect.stringContaining("expired") as unknown,
    });
  });

  it("ends after its last second, not with it", async () => {
    const ofAge = (seconds: number) =>
      new Certificate().userId("maker", [
        keyFlags(mayBoth),
        keyLifetime(365 * day + seconds),
      ]);
    const [last, over] = [ofAge(0), ofAge(-1)];
    expect(await outcome([last], signDocument(last.primary))).toBe("ok");
    expect(await outcome([over], signDocument(over.primary))).toBe(
      "keyExpired",
    );
  });

  it("is never for a lifetime of zero", async () => {
    const certificate = new Certificate().userId("maker", [
      keyFlags(mayBoth),
      keyLifetime(0),
    ]);
    expect(
      await outcome([certificate], signDocument(certificate.primary)),
    ).toBe("ok");
  });

  it("of the key goes before that of the signature", async () => {
    const certificate = new Certificate().userId("maker", [
      keyFlags(mayBoth),
      past,
    ]);
    const signature = signDocument(certificate.primary, {
      subpackets: [signatureLifetime(day)],
    });
    expect(await outcome([certificate], signature)).toBe("keyExpired");
  });

  it("is overridden by a newer self-signature, wherever it stands", async () => {
    const renewed = {
      createdAt: today - day,
      subpackets: [keyFlags(mayBoth), future],
    };
    const certificate = new Certificate()
      .userId("maker", [keyFlags(mayBoth), past])
      .onUserId("maker", 0x13, renewed);
    expect(
      await outcome([certificate], signDocument(certificate.primary)),
    ).toBe("ok");
  });

  it("of the self-signature is that of the signature", async () => {
    const certificate = new Certificate().userId("maker", [
      keyFlags(mayBoth),
      signatureLifetime(day),
    ]);
    expect(
      await outcome([certificate], signDocument(certificate.primary)),
    ).toBe("signature-expired");
  });

  it("of a subkey, of its primary, of its binding and of its cross-signature", async () => {
    const outcomeOf = async (
      primary: readonly Subpacket[],
      binding: Partial<ForgedSignature>,
      cross: Partial<ForgedSignature> = {},
    ): Promise<string> => {
      const subkey = forgeKey(lastYear);
      const certificate = new Certificate()
        .userId("maker", [keyFlags(mayCertify), ...primary])
        .signingSubkey(subkey, binding, cross);
      return outcome([certificate], signDocument(subkey), "opentofu");
    };
    const signs = keyFlags(2);
    expect(await outcomeOf([], { subpackets: [signs, past] })).toBe(
      "keyExpired",
    );
    expect(await outcomeOf([past], {})).toBe("keyExpired");
    expect(
      await outcomeOf([], { subpackets: [signs, signatureLifetime(day)] }),
    ).toBe("sigExpired");
    expect(
      await outcomeOf([], {}, { subpackets: [signatureLifetime(day)] }),
    ).toBe("sigExpired");
    expect(await outcomeOf([], {}, { createdAt: today + day })).toBe(
      "sigExpired",
    );
    expect(await outcomeOf([], {})).toBe("ok");
  });

  it("is not yet what was made at this very second", async () => {
    const young = new Certificate(forgeKey(today));
    young.packets.push(packet(13, Buffer.from("maker")));
    young.onUserId("maker", 0x13, {
      createdAt: today,
      subpackets: [keyFlags(mayBoth)],
    });
    const made = signDocument(young.primary, { createdAt: today });
    expect(await outcome([young], made)).toBe("ok");
  });

  it("is also a key or signature from the future", async () => {
    const young = new Certificate(forgeKey(today + day)).userId("maker");
    expect(await outcome([young], signDocument(young.primary))).toBe(
      "keyExpired",
    );
    const certificate = new Certificate().userId("maker");
    const early = signDocument(certificate.primary, { createdAt: today + day });
    expect(await outcome([certificate], early)).toBe("signature-expired");
  });
});

describe("an unknown critical notation", () => {
  it("refuses wherever the decision rests on it, before all else", async () => {
    const critical = notation("x@example.com", true);
    const inSignature = new Certificate().direct(keyRevocation).userId("maker");
    expect(
      await outcome(
        [inSignature],
        signDocument(inSignature.primary, { subpackets: [critical] }),
        "opentofu",
      ),
    ).toBe("critical-notation");
    const inSelfSignature = new Certificate().userId("maker", [
      keyFlags(mayBoth),
      critical,
    ]);
    expect(
      await outcome([inSelfSignature], signDocument(inSelfSignature.primary)),
    ).toBe("critical-notation");
    const subkey = forgeKey(lastYear);
    const inCross = new Certificate()
      .userId("maker")
      .signingSubkey(subkey, {}, { subpackets: [critical] });
    expect(await outcome([inCross], signDocument(subkey))).toBe(
      "critical-notation",
    );
    expect(await outcome([inCross], signDocument(inCross.primary))).toBe("ok");
  });

  it("may stand there if it is not critical", async () => {
    const certificate = new Certificate().userId("maker");
    const signature = signDocument(certificate.primary, {
      subpackets: [notation("x@example.com", false)],
    });
    expect(await outcome([certificate], signature)).toBe("ok");
  });
});

describe("the primary user ID", () => {
  const primaryMark: Subpacket = { type: 25, content: Buffer.of(1) };
  const expired = [keyFlags(mayBoth), keyLifetime(day)];
  const good = [keyFlags(mayBoth)];

  it("is the one marked as such, even if another is newer", async () => {
    const certificate = new Certificate()
      .userId("marked", [...expired, primaryMark])
      .userId("newer", [])
      .onUserId("newer", 0x13, { createdAt: today - day, subpackets: good });
    expect(
      await outcome([certificate], signDocument(certificate.primary)),
    ).toBe("keyExpired");
  });

  it("is the newest without a mark", async () => {
    const certificate = new Certificate()
      .userId("older", expired)
      .userId("newer", [])
      .onUserId("newer", 0x13, { createdAt: today - day, subpackets: good });
    expect(
      await outcome([certificate], signDocument(certificate.primary)),
    ).toBe("ok");
  });

  it("is the newest wherever it stands", async () => {
    const newest = { createdAt: today - day, subpackets: good };
    const certificate = new Certificate()
      .userId("oldest", expired)
      .userId("newest", [])
      .onUserId("newest", 0x13, newest)
      .userId("other", expired);
    expect(
      await outcome([certificate], signDocument(certificate.primary)),
    ).toBe("ok");
  });

  it("of a v6 key counts for nothing, revoked or not", async () => {
    const key = forgeKey(lastYear, { version: 6 });
    const certificate = new Certificate(key)
      .direct(0x1f, { subpackets: good })
      .userId("revoked", good)
      .onUserId("revoked", 0x30);
    expect(await outcome([certificate], signDocument(key))).toBe("ok");
  });

  it("decides alone whether the primary key may sign", async () => {
    const certificate = new Certificate()
      .userId("signs", [keyFlags(mayBoth)])
      .userId("certifies", [keyFlags(mayCertify), primaryMark]);
    expect(
      await outcome([certificate], signDocument(certificate.primary)),
    ).toBe("unknown-issuer");
  });
});
