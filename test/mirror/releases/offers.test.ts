import { describe, expect, it } from "vitest";
import { failure } from "../../../src/errors/index.ts";
import {
  asRefusal,
  type KnownRelease,
  refreshKnown,
  rejudge,
  takeOffer,
  verifyOffer,
} from "../../../src/mirror/releases/known-release.ts";
import { createSigner } from "../../fakes/signing.ts";
import { createCertifiedSigner } from "../../scenes/certified-signers.ts";
import { TestRegistry } from "../../scenes/test-registry.ts";
import type { ReleaseOrigin } from "../../../src/mirror/releases/evidence.ts";
import { decideSignature } from "../../../src/verification/signature-worker.ts";
import { parsePlatform } from "../../../src/address/platform.ts";
import { address } from "../../scenes/release-sketches.ts";

const make = (name: string) => createSigner({ name, algorithm: "ed25519" });
const [K, L] = await Promise.all([make("K"), make("L")]);

const both = "linux=a darwin=b";
/** Real signature decisions, and a clock that stands still. */
const origin: ReleaseOrigin = {
  registry: new TestRegistry(),
  policy: { signatures: "required", profile: "terraform" },
  judge: {
    library: "arithmetic 1",
    decide: (_, question) => decideSignature(question),
  },
  clock: { now: () => new Date("2026-06-01T00:00:00Z"), monotonic: () => 0 },
};

type Offered = Parameters<TestRegistry["offer"]>[1];
const platforms = ["linux_amd64", "darwin_amd64"].map(parsePlatform);

/** Returns the registry's answer, and the offer as it is verified. */
async function ask(offered: Offered) {
  const registry = new TestRegistry();
  registry.offer("1.0.0", offered);
  const { provider, version } = address;
  const found = await registry.findPackage(provider, version);
  const fetched = await registry.fetchChecksums(found);
  const verify = () => verifyOffer(origin, address, found, fetched);
  return { found, verify };
}

/** A release of which the registry offered all these, one after the other. */
async function know(...offers: readonly Offered[]): Promise<KnownRelease> {
  let known: KnownRelease | undefined;
  for (const offered of offers) {
    const { found, verify } = await ask(offered);
    known = takeOffer(known, await verify(), found, platforms);
  }
  if (known === undefined) throw new Error("nothing was offered");
  return known;
}

describe("an offer", () => {
  it("is the same evidence whenever it is made, and another under another signature", async () => {
    const [one, same, byL] = await Promise.all(
      [K, K, L].map(async (by) => (await ask({ content: both, by })).verify()),
    );
    expect(same?.id).toBe(one?.id);
    expect(byL?.sha256sums).toBe(one?.sha256sums);
    expect(byL?.id).not.toBe(one?.id);
  });

  it.each([
    [failure("signature-refused", "it", "revoked", "it is revoked"), true],
    [failure("checksums-malformed", "it", 1, "nonsense"), true],
    [failure("not-found", "it"), true],
    [failure("origin-timeout", "https://registry.example.com/", "body"), false],
    [failure("signature-undecided", "it", "too slow"), false],
    [new Error("a fault"), false],
  ])("is refused for %s: %s", (error, isRefused) => {
    if (isRefused) expect(asRefusal(error)).toBe(error);
    else expect(() => asRefusal(error)).toThrow(error);
  });
});

describe("what is known after an offer", () => {
  it("publishes what the registry publishes now, as far as that can be read", async () => {
    const publishedBy = async (...offers: readonly Offered[]) => [
      ...(await know(...offers)).trust.published,
    ];
    const offered = { content: both, by: K };
    const keys = [K.armoredPublicKey, "garbage"];
    expect(await publishedBy({ ...offered, keys })).toEqual([K.fingerprint]);
    expect(await publishedBy(offered, { content: both, by: L })).toEqual([
      L.fingerprint,
    ]);
  });

  it("has every platform that was offered once, and none where the origin never said", async () => {
    const { found, verify } = await ask({ content: both, by: K });
    const evidence = await verify();
    const [linux, darwin] = platforms.map((one) => [one]);
    const first = takeOffer(undefined, evidence, found, linux);
    const next = takeOffer(first, evidence, found, darwin);
    expect([...(next.offered ?? [])]).toEqual(["linux_amd64", "darwin_amd64"]);
    const silent = takeOffer(undefined, evidence, found, undefined);
    expect(silent.offered).toBeUndefined();
    expect(takeOffer(silent, evidence, found, linux).offered).toBeUndefined();
  });

  it("has no places of content that is not served", async () => {
    const known = await know({ content: "linux=a", by: K });
    const { sha256sums = "", content } = known.trust.evidence[0] ?? {};
    const pinned = {
      ...{ content: content ?? new Map(), sha256sums },
      ...{ signedBy: K.fingerprint, at: new Date(0) },
    };
    const admitted = { ...known, trust: { ...known.trust, pinned } };
    expect(admitted.places.size).toBe(1);
    const { found, verify } = await ask({ content: "linux=c", by: L });
    const next = takeOffer(admitted, await verify(), found, platforms);
    expect(next.places.size).toBe(0);
    expect(next.trust.pinned).toBe(pinned);
    expect(refreshKnown(next, found)).toBe(next);
  });
});

describe("the keys that a registry publishes now", () => {
  it("keep the verdict that people heard of", async () => {
    const publisher = await createCertifiedSigner("K");
    const { trust, ...known } = await know({ content: both, by: publisher });
    const evidence = trust.evidence.map((one) => ({
      ...{ ...one, noted: "known" as const },
    }));
    const noted = { ...known, trust: { ...trust, evidence } };
    const judge = async (known: KnownRelease, key: string) => {
      const offered = { content: both, by: publisher, keys: [key] };
      return rejudge(known, address, (await ask(offered)).found, origin);
    };
    const { armoredPublicKey } = await publisher.revoked();
    const fallen = await judge(noted, armoredPublicKey);
    const again = await judge(fallen, publisher.armoredPublicKey);
    expect([fallen, again].map(({ trust }) => trust.evidence)).toMatchObject([
      [{ isGood: false, noted: "known" }],
      [{ isGood: true, noted: "known" }],
    ]);
  });

  it("say nothing while nothing can be decided", async () => {
    const known = await know({ content: both, by: K });
    const { found } = await ask({ content: both, by: K, keys: ["other"] });
    const slow = failure("signature-undecided", "it", "too slow");
    const judge = { library: "", decide: () => Promise.reject(slow) };
    const judged = rejudge(known, address, found, { ...origin, judge });
    await expect(judged).rejects.toBe(slow);
  });
});
