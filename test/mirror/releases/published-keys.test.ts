import { describe, expect, it } from "vitest";
import { failure, type Failure } from "../../../src/errors/index.ts";
import {
  type KnownRelease,
  rejudge,
} from "../../../src/mirror/releases/known-release.ts";
import { createSigner } from "../../fakes/signing.ts";
import { address } from "../../scenes/believed-releases.ts";
import { createCertifiedSigner } from "../../scenes/certified-signers.ts";
import { evidenceOf } from "../../scenes/release-sketches.ts";
import { originOf } from "../../scenes/silent-origin.ts";
import { ask, know, origin } from "../../scenes/verified-offers.ts";

const K = await createCertifiedSigner("K");
const revoked = (await K.revoked()).armoredPublicKey;
const L = await createSigner({ name: "L", algorithm: "ed25519" });

const both = "linux=a darwin=b";
const standing = ({ trust }: KnownRelease) =>
  trust.evidence.map(({ isGood, fault }) =>
    isGood ? "good" : (fault as Failure<"signature-refused">).reason,
  );

describe("the keys that a registry publishes now", () => {
  const judge = async (
    known: KnownRelease,
    keys: readonly string[],
    of = origin,
  ) => {
    const { found } = await ask({ content: both, by: K, keys });
    return rejudge(known, address, found, of);
  };

  it("take a signature away that they show as revoked, and give it back", async () => {
    const known = await know({ content: both, by: K });
    const fallen = await judge(known, [revoked]);
    expect(standing(fallen)).toEqual(["revoked"]);
    expect(fallen.trust.evidence[0]?.content).toEqual(
      known.trust.evidence[0]?.content,
    );
    expect(standing(await judge(fallen, [K.armoredPublicKey]))).toEqual([
      "good",
    ]);
  });

  it("give back every signature that they took away", async () => {
    const known = await know(
      { content: "linux=a darwin=b", by: K },
      { content: "linux=a", by: K },
    );
    const fallen = await judge(known, [revoked]);
    expect(standing(fallen)).toEqual(["revoked", "revoked"]);
    const again = await judge(fallen, [K.armoredPublicKey]);
    expect(standing(again)).toEqual(["good", "good"]);
  });

  it("take nothing away because the wall clock was set back behind a signature", async () => {
    const known = await know({ content: both, by: K });
    const before = new Date("2023-01-01T00:00:00Z");
    const setBack = {
      ...origin,
      clock: { ...origin.clock, now: () => before },
    };
    const block = `${K.armoredPublicKey}\n`;
    expect(standing(await judge(known, [block], setBack))).toEqual(["good"]);
    const fallen = await judge(known, [revoked], setBack);
    expect(standing(fallen)).toEqual(["revoked"]);
  });

  it("take a signature away that has expired, where the rules ask for that", async () => {
    const expiring = await createSigner({
      ...{ name: "X", algorithm: "ed25519" },
      createdAt: new Date("2024-01-01T00:00:00Z"),
      expiresAfter: 86_400,
    });
    const block = expiring.armoredPublicKey;
    const lasting = `${block}\n`;
    const known = await know({ content: both, by: expiring, keys: [lasting] });
    const enforcing = originOf({}, { profile: "enforce" });
    expect(standing(known)).toEqual(["good"]);
    const fallen = await judge(known, [block], enforcing);
    expect(standing(fallen)).toEqual(["key-expired"]);
  });

  it.each([
    ["cannot be read", () => ["garbage"]],
    ["are those of others", () => [L.armoredPublicKey]],
    ["are none", () => []],
  ])(
    "say nothing where they %s, before and after a revocation",
    async (_, keys) => {
      const known = await know({ content: both, by: K });
      expect(standing(await judge(known, keys()))).toEqual(["good"]);
      const fallen = await judge(known, [revoked]);
      expect(standing(await judge(fallen, keys()))).toEqual(["revoked"]);
    },
  );

  it("say nothing of unsigned releases", async () => {
    const { trust, ...known } = await know({ content: both, by: K });
    const evidence = [await evidenceOf({ by: undefined })];
    const unsigned = { ...known, trust: { ...trust, evidence } };
    const judged = await judge(unsigned, [revoked]);
    expect(standing(judged)).toEqual(["good"]);
  });

  it("say nothing while nothing can be decided", async () => {
    const known = await know({ content: both, by: K });
    const slow = failure("signature-undecided", "it", "too slow");
    const failing = {
      ...origin,
      judge: { library: "", decide: () => Promise.reject(slow) },
    };
    await expect(judge(known, [revoked], failing)).rejects.toBe(slow);
  });

  it("keep the verdict that people heard of", async () => {
    const { trust, ...known } = await know({ content: both, by: K });
    const evidence = trust.evidence.map((one) => ({
      ...{ ...one, noted: "known" as const },
    }));
    const noted = { ...known, trust: { ...trust, evidence } };
    const fallen = await judge(noted, [revoked]);
    const again = await judge(fallen, [K.armoredPublicKey]);
    for (const one of [fallen, again])
      expect(one.trust.evidence[0]?.noted).toBe("known");
  });
});
