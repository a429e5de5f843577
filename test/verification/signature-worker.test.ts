import { describe, expect, it } from "vitest";
import {
  Certificate,
  day,
  decide,
  document,
  type ForgedSignature,
  forgeKey,
  forgeSignature,
  issuerKeyId,
  keyFlags,
  lastYear,
  mayBoth,
  mayCertify,
  notation,
  now,
  outcome,
  packet,
  revocationReason,
  seconds,
  signDocument,
  type Subpacket,
  today,
} from "./forge.ts";
import { decideSignature } from "../../src/verification/signature-worker.ts";

const signer = forgeKey(lastYear);
const good = new Certificate(signer).userId("maker");
const signature = signDocument(signer);
const foreign = new Certificate().userId("another maker");

describe("a good signature", () => {
  it("tells who made it and when", async () => {
    expect(await decide([foreign, good], signature)).toEqual({
      accepted: true,
      signedBy: signer.fingerprint,
      createdAt: new Date((today - 30 * day) * 1000),
      warning: undefined,
    });
  });

  it("is accepted of a version 6 key, which names itself in a direct signature", async () => {
    const key = forgeKey(lastYear, { version: 6 });
    const certificate = new Certificate(key).direct(0x1f, {
      subpackets: [keyFlags(mayBoth)],
    });
    expect(await outcome([certificate], signDocument(key))).toBe("ok");
  });

  it("is accepted of a subkey that its primary key bound, and is that key's", async () => {
    const subkey = forgeKey(lastYear);
    const certificate = new Certificate().userId("maker").signingSubkey(subkey);
    expect(await decide([certificate], signDocument(subkey))).toMatchObject({
      accepted: true,
      signedBy: certificate.primary.fingerprint,
    });
  });

  it("is accepted when its key was signed again later", async () => {
    const certificate = new Certificate(signer).userId("maker", [
      ...[keyFlags(mayBoth), seconds(9, day)],
    ]);
    const renewed = { subpackets: [keyFlags(mayBoth), seconds(9, 900 * day)] };
    for (const createdAt of [today - day, today + day / 2])
      certificate.onUserId("maker", 0x13, { createdAt, ...renewed });
    expect(await outcome([certificate], signature, "enforce")).toBe("ok");
  });
});

describe("a signature that its key did not make", () => {
  it("is refused over a document with a bit flipped in any octet", async () => {
    for (const at of document.keys()) {
      const flipped = Buffer.from(document);
      flipped[at] = (flipped[at] ?? 0) ^ (1 << (at & 7));
      const decision = await decideSignature({
        ...{ document: flipped, signature, keys: [good.armor()], now },
        profile: "opentofu",
      });
      expect(decision).toMatchObject({ reason: "bad-signature" });
    }
  });

  it("is refused when another key claims to be its issuer", async () => {
    const claimed = { anonymous: true, unhashed: [issuerKeyId(signer)] };
    const other = forgeKey(lastYear);
    expect(await outcome([good], signDocument(other, claimed))).toBe(
      "bad-signature",
    );
    expect(await outcome([good], signDocument(other))).toBe("unknown-issuer");
  });

  it("is refused where a certificate claims the key of another without its consent", async () => {
    const thief = new Certificate().userId("thief");
    const bound = forgeSignature(
      thief.primary,
      Buffer.concat([thief.primary.hashed, signer.hashed]),
      { type: 0x18, createdAt: lastYear, subpackets: [keyFlags(2)] },
    );
    thief.packets.push(packet(14, signer.body), packet(2, bound));
    expect(await outcome([thief], signature)).toBe("unusable-key");
  });

  it.each([0x02, 0x10, 0x13, 0x18, 0x1f, 0x20, 0x40, 0x50])(
    "is refused as type %i, which is not over a document",
    async (type) => {
      expect(await outcome([good], signDocument(signer, { type }))).toBe(
        "bad-signature",
      );
      const standalone = forgeSignature(signer, Buffer.of(), {
        ...{ type, createdAt: today - day },
      });
      expect(await outcome([good], packet(2, standalone))).toBe(
        "bad-signature",
      );
    },
  );

  it("is refused when it is noise, or names no issuer", async () => {
    const anonymous = signDocument(signer, { anonymous: true });
    expect(await outcome([good], Buffer.alloc(64, 7))).toBe(
      "unreadable-signature",
    );
    expect(await outcome([good], anonymous)).toBe("unknown-issuer");
  });

  it("is refused with an unknown critical notation", async () => {
    const critical = [notation("x@example.com", true)];
    const uncritical = [notation("x@example.com", false)];
    const made = (subpackets: Subpacket[]) =>
      outcome([good], signDocument(signer, { subpackets }));
    expect(await made(critical)).toBe("bad-signature");
    expect(await made(uncritical)).toBe("ok");
  });
});

describe("the first signature with a known issuer", () => {
  const other = signDocument(forgeKey(lastYear));
  const broken = Buffer.from(signature);
  broken[broken.length - 1] = (broken.at(-1) ?? 0) ^ 1;

  it("decides, even if the next one would do", async () => {
    const two = (first: Buffer) => Buffer.concat([first, signature]);
    expect(await outcome([good], two(other))).toBe("ok");
    expect(await outcome([good], two(broken))).toBe("bad-signature");
  });

  it.each([
    [["no key at all", good], "ok"],
    [["no key at all"], "unreadable-key"],
    [[foreign, "no key at all"], "unknown-issuer"],
    [[], "unknown-issuer"],
    [[good, new Certificate(signer).direct(0x20).userId("maker")], "ok"],
    [[new Certificate(signer).direct(0x20).userId("maker"), good], "revoked"],
  ] as const)(
    "is tried with the first key of its ID: case %#",
    async (keys, expected) => {
      expect(await outcome([...keys], signature)).toBe(expected);
    },
  );
});

/** Reason for revocation, and when it was made: each counts. */
const revocations: readonly (readonly [string, Partial<ForgedSignature>])[] = [
  ["without a reason", {}],
  ["as superseded", { subpackets: [revocationReason(1)] }],
  ["as compromised", { subpackets: [revocationReason(2)] }],
  ["as retired", { subpackets: [revocationReason(3)] }],
  [
    "after the signature",
    { createdAt: today - day, subpackets: [revocationReason(1)] },
  ],
  [
    "in the future",
    { createdAt: today + 9 * day, subpackets: [revocationReason(1)] },
  ],
  ["for a time that is over", { subpackets: [seconds(3, day)] }],
  ["with SHA-1", { hash: 2 }],
];

// RSA, whose revocations GnuPG made with SHA-1 for years.
const primary = forgeKey(lastYear, { kind: "rsa2048" });
const subkey = forgeKey(lastYear, { kind: "rsa2048" });

describe.each(revocations)("revoked %s", (_, forged) => {
  it.each(["opentofu", "strict"] as const)(
    "a primary key signs nothing under %s, nor do its subkeys; a subkey or a user ID takes itself alone",
    async (profile) => {
      const all = new Certificate(primary)
        .direct(0x20, forged)
        .userId("maker")
        .signingSubkey(subkey);
      const branch = new Certificate(primary)
        .userId("maker")
        .signingSubkey(subkey)
        .onSubkey(subkey, 0x28, forged);
      const name = new Certificate(primary)
        .userId("maker")
        .onUserId("maker", 0x30, forged);
      const [byPrimary, bySubkey] = [primary, subkey].map((key) =>
        signDocument(key),
      ) as [Buffer, Buffer];
      for (const [certificate, made, expected] of [
        [all, byPrimary, "revoked"],
        [all, bySubkey, "revoked"],
        [branch, bySubkey, "revoked"],
        [branch, byPrimary, "ok"],
        [name, byPrimary, "revoked"],
      ] as const)
        expect(await outcome([certificate], made, profile)).toBe(expected);
      const other = name.userId("other");
      expect(await outcome([other], byPrimary, profile)).toBe("ok");
    },
  );
});

describe("who may sign", () => {
  it("not a key with an unknown critical notation", async () => {
    const subpackets = [keyFlags(mayBoth), notation("x@example.com", true)];
    const certificate = new Certificate(signer).userId("maker", subpackets);
    expect(await outcome([certificate], signature)).toBe("unusable-key");
  });

  it("what the newest self-signature says", async () => {
    const certificate = new Certificate(signer)
      .userId("maker")
      .onUserId("maker", 0x13, {
        createdAt: lastYear + 1,
        subpackets: [keyFlags(mayCertify)],
      });
    expect(await outcome([certificate], signature)).toBe("unusable-key");
  });

  it("RSA from 1024 bits, under strict from 2047", async () => {
    for (const [bits, under, strict] of [
      [1016, "unusable-key", "unusable-key"],
      [1024, "ok", "unusable-key"],
      [2047, "ok", "ok"],
    ] as const) {
      const rsa = forgeKey(lastYear, { kind: `rsa${bits}` });
      const certificate = new Certificate(rsa).userId("maker");
      const made = signDocument(rsa);
      expect([bits, await outcome([certificate], made)]).toEqual([bits, under]);
      expect([bits, await outcome([certificate], made, "strict")]).toEqual([
        bits,
        strict,
      ]);
    }
  });
});

describe("expiry", () => {
  const past = seconds(9, 30 * day);
  const outdated = new Certificate(signer).userId("maker", [
    keyFlags(mayBoth),
    past,
  ]);
  const over = signDocument(signer, { subpackets: [seconds(3, day)] });
  const overSelf = new Certificate(signer).userId("maker", [
    keyFlags(mayBoth),
    seconds(3, day),
  ]);

  // Vectors hold what else the clients excuse, and strict refuses as enforce does.
  it("is excused as clients do, with a warning, or says what is over", async () => {
    for (const [keys, made, profile, said] of [
      [[outdated], over, "terraform", "warned"],
      [[overSelf], signature, "terraform", "signature-expired"],
      [[good], over, "opentofu", "warned"],
      [[outdated], over, "enforce", "key-expired"],
      [[good], over, "strict", "signature-expired"],
    ] as const)
      expect(await outcome(keys, made, profile)).toBe(said);
    const warning =
      "The signature was accepted although its signing key has expired.";
    expect(await decide([outdated], signature)).toMatchObject({ warning });
  });

  it.each([
    ["key-expired", { subpackets: [keyFlags(2), past] }, {}],
    ["signature-expired", { subpackets: [keyFlags(2), seconds(3, day)] }, {}],
    ["signature-expired", {}, { subpackets: [seconds(3, day)] }],
    ["ok", {}, {}],
  ])(
    "of a subkey, its binding and its cross-signature: %s",
    async (expected, binding, cross) => {
      const subkey = forgeKey(lastYear);
      const certificate = new Certificate()
        .userId("maker")
        .signingSubkey(subkey, binding, cross);
      expect(
        await outcome([certificate], signDocument(subkey), "enforce"),
      ).toBe(expected);
    },
  );

  it("comes after the last second, and never for a lifetime of zero", async () => {
    for (const [lifetime, expected] of [
      [365 * day, "ok"],
      [365 * day - 1, "key-expired"],
      [0, "ok"],
    ] as const) {
      const flags = [keyFlags(mayBoth), seconds(9, lifetime)];
      const certificate = new Certificate(signer).userId("maker", flags);
      expect(await outcome([certificate], signature, "enforce")).toBe(expected);
    }
  });

  it.each(["terraform", "opentofu", "enforce", "strict"] as const)(
    "lets a day's difference of clocks pass under %s, and no more of the future",
    async (profile) => {
      for (const [createdAt, expected] of [
        [today + day, "ok"],
        [today + day + 1, "signature-expired"],
      ] as const) {
        const made = signDocument(signer, { createdAt });
        expect(await outcome([good], made, profile)).toBe(expected);
        const flags = [keyFlags(mayBoth)];
        const young = new Certificate(signer);
        young.userId("maker", flags, { createdAt });
        expect(await outcome([young], signature, profile)).toBe(expected);
        const unborn = new Certificate(forgeKey(createdAt)).userId("maker");
        expect(
          await outcome([unborn], signDocument(unborn.primary), profile),
        ).toBe(expected);
      }
    },
  );
});
