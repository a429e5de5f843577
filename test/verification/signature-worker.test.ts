import { enums, UserIDPacket } from "openpgp";
import { describe, expect, it } from "vitest";
import {
  block,
  day,
  decide,
  type Fields,
  lastYear,
  makeKey,
  outcome,
  packetsOf,
  today,
} from "./forge.ts";

const maker = await makeKey();
const good = await block(maker.key, maker.userID, maker.self());
const signature = await maker.sign();
const stranger = await makeKey();
const { armored: foreign } = stranger;

/** The maker's certificate, with other fields in its own signatures. */
const certificate = (...selves: readonly Fields[]) =>
  block(maker.key, maker.userID, ...selves.map((fields) => maker.self(fields)));
const notation = (critical: boolean) => {
  const text = { name: "x@example.com", value: Buffer.of(1) };
  return { rawNotations: [{ ...text, humanReadable: true, critical }] };
};

describe("a good signature", () => {
  it("tells who made it and when, of a subkey its primary key", async () => {
    const accepted = {
      accepted: true,
      signedBy: maker.fingerprint,
      createdAt: new Date((today - 30 * day) * 1000),
    };
    expect(await decide([foreign, good], signature)).toEqual(accepted);
    const bySubkey = await maker.signBySubkey();
    expect(await decide([maker.armored], bySubkey)).toEqual(accepted);
  });

  it("is accepted of a version 6 key, which names itself in a direct signature", async () => {
    const six = await makeKey(lastYear, { config: { v6Keys: true } });
    expect(await outcome([six.armored], await six.sign())).toBe("ok");
  });

  it("is accepted when its key was signed again later", async () => {
    const renewed = await certificate(
      { keyExpirationTime: day },
      ...[today - day, today + day / 2].map((created) => ({
        ...{ created, keyExpirationTime: 900 * day },
      })),
    );
    expect(await outcome([renewed], signature, "enforce")).toBe("ok");
  });
});

describe("a signature that its key did not make", () => {
  it("is refused where a certificate claims the key of another without its consent", async () => {
    const { key, userID } = stranger;
    const bound = await makeKey();
    const thief = await block(
      ...[key, userID, stranger.self(), bound.subkey],
      stranger.make(enums.signature.subkeyBinding, { keyFlags: [2] }),
    );
    expect(await outcome([thief], await bound.signBySubkey())).toBe(
      "unusable-key",
    );
  });

  it("is refused where it is over a key, or over nothing", async () => {
    const { certPositive, standalone, timestamp } = enums.signature;
    for (const type of [certPositive, standalone, timestamp]) {
      const made = packetsOf(await maker.make(type, { created: today - day }));
      expect(await outcome([good], made)).toBe("bad-signature");
    }
  });

  it("is refused when it is noise, or has an unknown critical notation", async () => {
    expect(await outcome([good], Buffer.alloc(64, 7))).toBe(
      "unreadable-signature",
    );
    expect(await outcome([good], await maker.sign(notation(false)))).toBe("ok");
    expect(await outcome([good], await maker.sign(notation(true)))).toBe(
      "bad-signature",
    );
  });
});

describe("the first signature with a known issuer", () => {
  it("decides, even if the next one would do", async () => {
    const broken = Buffer.from(signature);
    broken[broken.length - 1] = (broken.at(-1) ?? 0) ^ 1;
    const two = (first: Uint8Array) => Buffer.concat([first, signature]);
    expect(await outcome([good], two(await stranger.sign()))).toBe("ok");
    expect(await outcome([good], two(broken))).toBe("bad-signature");
  });

  it("is tried with the first key of its ID", async () => {
    const revoked = await block(
      ...[maker.key, maker.make(enums.signature.keyRevocation)],
      ...[maker.userID, maker.self()],
    );
    for (const [keys, expected] of [
      [["no key at all", good], "ok"],
      [["no key at all"], "unreadable-key"],
      [[foreign, "no key at all"], "unknown-issuer"],
      [[], "unknown-issuer"],
      [[good, revoked], "ok"],
      [[revoked, good], "revoked"],
    ] as const)
      expect(await outcome(keys, signature)).toBe(expected);
  });
});

// RSA, whose revocations GnuPG made with SHA-1 for years.
const rsa = await makeKey(lastYear, { type: "rsa", rsaBits: 2048 });
const because = (reasonForRevocationFlag: enums.reasonForRevocation) => ({
  ...{ reasonForRevocationFlag, reasonForRevocationString: "" },
});

const { keySuperseded, keyCompromised, keyRetired } = enums.reasonForRevocation;
const superseded = because(keySuperseded);

/** Reason for revocation, and when it was made: each counts. */
it.each<[string, Fields]>([
  ["without a reason", {}],
  ["as superseded", superseded],
  ["as compromised", because(keyCompromised)],
  ["as retired", because(keyRetired)],
  ["after the signature", { created: today - day, ...superseded }],
  ["in the future", { created: today + 9 * day, ...superseded }],
  ["for a time that is over", { signatureExpirationTime: day }],
  ["with SHA-1", { hashAlgorithm: enums.hash.sha1 }],
])(
  "a primary key that is revoked %s signs nothing, nor do its subkeys; a subkey or a user ID takes itself alone",
  async (_, fields) => {
    const { keyRevocation, subkeyRevocation, certRevocation } = enums.signature;
    const { key, userID, subkey } = rsa;
    const named = [userID, rsa.self()];
    const bound = [subkey, rsa.binding()];
    const gone = rsa.make(certRevocation, fields);
    const other = UserIDPacket.fromObject({ name: "other" });
    const all = [key, rsa.make(keyRevocation, fields), ...named, ...bound];
    const branch = [
      key,
      ...named,
      ...bound,
      rsa.make(subkeyRevocation, fields),
    ];
    const [byPrimary, bySubkey] = [await rsa.sign(), await rsa.signBySubkey()];
    for (const [packets, made, expected] of [
      [all, byPrimary, "revoked"],
      [all, bySubkey, "revoked"],
      [branch, bySubkey, "revoked"],
      [branch, byPrimary, "ok"],
      [[key, ...named, gone], byPrimary, "revoked"],
      [[key, ...named, gone, other, rsa.self({}, other)], byPrimary, "ok"],
    ] as const)
      for (const profile of ["opentofu", "strict"] as const)
        expect(await outcome([await block(...packets)], made, profile)).toBe(
          expected,
        );
  },
);

describe("who may sign", () => {
  it("is what the newest self-signature says, without unknown critical notations", async () => {
    const newest = { created: lastYear + 1, keyFlags: [1] };
    const unknown = await certificate(notation(true));
    for (const one of [await certificate({}, newest), unknown])
      expect(await outcome([one], signature)).toBe("unusable-key");
  });

  it("is RSA from 1024 bits, under strict from 2047", async () => {
    for (const [rsaBits, under, strict] of [
      [1016, "unusable-key", "unusable-key"],
      [1024, "ok", "unusable-key"],
      [2047, "ok", "ok"],
    ] as const) {
      const config = { v6Keys: false, minRSABits: 1016 };
      const short = await makeKey(lastYear, { type: "rsa", rsaBits, config });
      const made = await short.sign();
      expect([
        await outcome([short.armored], made),
        await outcome([short.armored], made, "strict"),
      ]).toEqual([under, strict]);
    }
  });
});

describe("expiry", () => {
  // Vectors hold what else the clients excuse, and strict refuses as enforce does.
  it("is excused as clients do, or says what is over", async () => {
    const outdated = await certificate({ keyExpirationTime: 30 * day });
    const overSelf = await certificate({ signatureExpirationTime: day });
    const over = await maker.sign({ signatureExpirationTime: day });
    for (const [key, made, profile, said] of [
      [outdated, over, "terraform", "ok"],
      [overSelf, signature, "terraform", "signature-expired"],
      [good, over, "opentofu", "ok"],
      [outdated, over, "enforce", "key-expired"],
      [good, over, "strict", "signature-expired"],
    ] as const)
      expect(await outcome([key], made, profile)).toBe(said);
  });

  it.each<[string, Fields, Fields]>([
    ["key-expired", { keyExpirationTime: 30 * day }, {}],
    ["signature-expired", { signatureExpirationTime: day }, {}],
    ["signature-expired", {}, { signatureExpirationTime: day }],
    ["ok", {}, {}],
  ])("of a subkey's binding and cross-signature: %s", async (...row) => {
    const [expected, binding, cross] = row;
    const bound = await block(
      ...[maker.key, maker.userID, maker.self(), maker.subkey],
      maker.binding(binding, cross),
    );
    const made = await maker.signBySubkey();
    expect(await outcome([bound], made, "enforce")).toBe(expected);
  });

  it("comes after the last second, and never for a lifetime of zero", async () => {
    for (const [keyExpirationTime, expected] of [
      [365 * day, "ok"],
      [365 * day - 1, "key-expired"],
      [0, "ok"],
    ] as const) {
      const one = await certificate({ keyExpirationTime });
      expect(await outcome([one], signature, "enforce")).toBe(expected);
    }
  });

  it.each(["terraform", "opentofu", "enforce", "strict"] as const)(
    "lets a day's difference of clocks pass under %s, and no more of the future",
    async (profile) => {
      for (const [created, expected] of [
        [today + day, "ok"],
        [today + day + 1, "signature-expired"],
      ] as const) {
        const unborn = await makeKey(created);
        for (const [key, made] of [
          [good, await maker.sign({ created })],
          [await certificate({ created }), signature],
          [unborn.armored, await unborn.sign()],
        ] as const)
          expect(await outcome([key], made, profile)).toBe(expected);
      }
    },
  );
});
