import { expect, it } from "vitest";
import { parseSha256 } from "../../../src/address/hash.ts";
import { parsePlatform } from "../../../src/address/platform.ts";
import { failure, isFailure } from "../../../src/errors/index.ts";
import {
  asRefusal,
  joinReleases,
  type KnownRelease,
  matchesPolicy,
  prepareProof,
  refreshKnown,
  rejudge,
  type ReleaseOrigin,
  type SignaturePolicy,
  takeOffer,
  verifyOffer,
} from "../../../src/mirror/releases/evidence.ts";
import type { ReleaseProof } from "../../../src/mirror/releases/release.ts";
import { createCertifiedSigner } from "../../scenes/certified-signers.ts";
import { judge, makeSigners } from "../../scenes/mirror-in-process.ts";
import { address, proofOf } from "../../scenes/release-sketches.ts";
import { TestRegistry } from "../../scenes/test-registry.ts";

const { K, L } = await makeSigners();
const proof = proofOf({ by: "K" });

it.each([
  ["required", "key and signature", {}, "to be verified"],
  ["required", "no key", { keys: [] }, "refused: signing key"],
  ["required", "no signature", { signature: undefined }, "refused: signature"],
  ["when-published", "key and signature", {}, "to be verified"],
  ["when-published", "no key", { keys: [] }, "unsigned-when-published"],
  [
    ...(["when-published", "a key alone"] as const),
    ...([{ signature: undefined }, "refused: signature"] as const),
  ],
  ["off", "key and signature", {}, "signatures-off"],
  ["off", "no key", { keys: [] }, "signatures-off"],
] as const)("under %s, with %s: %s", (signatures, _what, changes, expected) => {
  const { document, signature, keys } = { ...proof, ...changes };
  const claim = { document, signature, keys };
  const now = new Date("2026-01-01T00:00:00Z");
  const terms = { profile: "strict", verifiedAt: now, library: "openssl" };
  const policy = { signatures, profile: "strict" } as const;
  try {
    const made = prepareProof(address, claim, policy, "openssl", now);
    expect(made).toMatchObject({ ...claim, ...terms });
    expect(made.exemption ?? "to be verified").toBe(expected);
  } catch (error) {
    if (!isFailure(error, "signature-missing")) throw error;
    const { message, missing } = error;
    expect(`refused: ${missing}`).toBe(expected);
    // The advice is given only where it helps.
    expect(message.includes("when-published")).toBe(missing !== "signature");
  }
});

const all: readonly SignaturePolicy["signatures"][] = [
  ...(["required", "when-published", "off"] as const),
];

it.each<[ReleaseProof["exemption"], readonly SignaturePolicy["signatures"][]]>([
  [undefined, all],
  ["unsigned-when-published", ["when-published", "off"]],
  ["signatures-off", ["off"]],
])(
  "a proof that is exempt by %s is on the terms of %s, and of no other profile",
  (exemption, expected) => {
    const matches = (profile: SignaturePolicy["profile"]) =>
      all.filter((signatures) =>
        matchesPolicy({ ...proof, exemption }, { signatures, profile }),
      );
    expect(matches("terraform")).toEqual(expected);
    expect(matches("strict")).toEqual([]);
  },
);

/** Real signature decisions, and a clock that stands still. */
const origin: ReleaseOrigin = {
  registry: new TestRegistry(),
  policy: { signatures: "required", profile: "terraform" },
  judge,
  clock: { now: () => new Date("2026-06-01T00:00:00Z"), monotonic: () => 0 },
};

type Offered = Omit<Parameters<TestRegistry["offer"]>[1], "content">;
const platforms = ["linux_amd64", "darwin_amd64"].map(parsePlatform);

/** Returns the registry's answer, and the offer as it was verified. */
async function ask(
  offered: Offered,
  signatures: SignaturePolicy["signatures"] = "required",
) {
  const registry = new TestRegistry();
  registry.offer("1.0.0", { content: "linux=a darwin=b", ...offered });
  const { provider, version } = address;
  const found = await registry.findPackage(provider, version);
  const fetched = await registry.fetchChecksums(found);
  const by = { ...origin, policy: { ...origin.policy, signatures } };
  const verify = () => verifyOffer(by, address, found, fetched);
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

it("an offer is the same evidence whenever it is made, and another under another signature, or once there are keys for it", async () => {
  const [one, same, byL] = await Promise.all(
    [K, K, L].map(async (by) => (await ask({ by })).verify()),
  );
  expect(same?.id).toBe(one?.id);
  expect(byL?.sha256sums).toBe(one?.sha256sums);
  expect(byL?.id).not.toBe(one?.id);
  const unchecked = await ask({ by: K, keys: [] }, "when-published");
  const { id, sha256sums } = await unchecked.verify();
  expect(sha256sums).toBe(one?.sha256sums);
  expect(id).not.toBe(one?.id);
});

it.each([
  [failure("signature-refused", "it", "revoked", "it is revoked"), true],
  [failure("not-found", "it"), true],
  [failure("origin-timeout", "https://registry.example.com/", "body"), false],
  [failure("signature-undecided", "it", "too slow"), false],
  [new Error("a fault"), false],
])("an offer is refused for %s: %s", (error, isRefused) => {
  if (isRefused) expect(asRefusal(error)).toBe(error);
  else expect(() => asRefusal(error)).toThrow(error);
});

it("a release is published with the keys that its registry publishes now, as far as they can be read", async () => {
  const keys = [K.armoredPublicKey, "garbage"];
  const first = await know({ by: K, keys });
  expect([...first.trust.published]).toEqual([K.fingerprint]);
  const next = await know({ by: K }, { by: L });
  expect([...next.trust.published]).toEqual([L.fingerprint]);
});

it("a release has every platform that was offered once, and none where its origin never said", async () => {
  const { found, verify } = await ask({ by: K });
  const evidence = await verify();
  const [linux, darwin] = platforms.map((one) => [one]);
  const first = takeOffer(undefined, evidence, found, linux);
  const both = takeOffer(first, evidence, found, darwin).offered;
  expect(both).toEqual(new Set(["linux_amd64", "darwin_amd64"]));
  const silent = takeOffer(undefined, evidence, found, undefined);
  expect(silent.offered).toBeUndefined();
  const next = takeOffer(silent, evidence, found, platforms);
  expect(next.offered).toBeUndefined();
});

it("a release has the places of its pinned content alone, also when it is asked for again", async () => {
  const known = await know({ by: K });
  const [evidence] = known.trust.evidence;
  const { found } = await ask({ by: K });
  expect(refreshKnown({ ...known, places: new Map() }, found).places.size).toBe(
    2,
  );
  const digest = parseSha256("0".repeat(64));
  const pinned = evidence && {
    ...{ ...evidence, at: new Date(0) },
    content: new Map([["linux_amd64", digest]]),
  };
  const other = { ...known, trust: { ...known.trust, pinned } };
  expect(refreshKnown(other, found)).toBe(other);
  const again = evidence && takeOffer(other, evidence, found, platforms);
  expect(again?.places).toEqual(new Map());
});

it("other keys keep the verdict that people heard of, and a clock that was set back keeps them from nothing", async () => {
  const publisher = await createCertifiedSigner("K");
  const known = await know({ by: publisher });
  const evidence = known.trust.evidence.map((one) => ({
    ...{ ...one, noted: "known" as const },
  }));
  const judged = async (known: KnownRelease, key: string) => {
    const { found } = await ask({ by: publisher, keys: [key] });
    const now = new Date("2000-01-01T00:00:00Z");
    const clock = { ...origin.clock, now: () => now };
    return rejudge(known, address, found, { ...origin, clock });
  };
  const noted = { ...known, trust: { ...known.trust, evidence } };
  const fallen = await judged(
    noted,
    (await publisher.revoked()).armoredPublicKey,
  );
  const again = await judged(fallen, publisher.armoredPublicKey);
  expect([fallen, again].map(({ trust }) => trust.evidence)).toMatchObject([
    [{ isGood: false, noted: "known" }],
    [{ isGood: true, noted: "known" }],
  ]);
});

it("what joins the record of another process is judged by the keys that this one got", async () => {
  const publisher = await createCertifiedSigner("K");
  const { armoredPublicKey } = await publisher.revoked();
  const rotated = { by: L, keys: [L.armoredPublicKey, armoredPublicKey] };
  const other = await know(rotated);
  const ours = await know({ by: publisher });
  const joined = joinReleases(other, ours);
  expect(joined.trust.evidence.map(({ isGood }) => isGood)).toEqual([
    ...[true, true],
  ]);
  const { found } = await ask(rotated);
  const judged = await rejudge(joined, address, found, origin);
  expect(judged.trust.evidence.map(({ isGood }) => isGood)).toEqual([
    ...[true, false],
  ]);
  expect(joinReleases(other, other).keys).toBe(other.keys);
});

it("keys that a registry adds say nothing of what nobody signed", async () => {
  const { found, verify } = await ask({ by: K, keys: [] }, "when-published");
  const known = takeOffer(undefined, await verify(), found, platforms);
  const signed = await ask({ by: L, keys: [K.armoredPublicKey] });
  const judged = await rejudge(known, address, signed.found, origin);
  expect(judged.trust.evidence).toEqual(known.trust.evidence);
});

it("other keys say nothing while nothing can be decided", async () => {
  const known = await know({ by: K });
  const { found } = await ask({ by: K, keys: ["other"] });
  const slow = failure("signature-undecided", "it", "too slow");
  const judge = { library: "", decide: () => Promise.reject(slow) };
  const judged = rejudge(known, address, found, { ...origin, judge });
  await expect(judged).rejects.toBe(slow);
});
