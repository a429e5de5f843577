import { describe, expect, it } from "vitest";
import { failure } from "../../../src/errors/index.ts";
import {
  asRefusal,
  refreshKnown,
  takeOffer,
} from "../../../src/mirror/releases/known-release.ts";
import { failing } from "../../scenes/failing.ts";
import { createSigner } from "../../fakes/signing.ts";
import { sha256Of } from "../../scenes/test-registry.ts";
import { ask, know, platforms } from "../../scenes/verified-offers.ts";

const make = (name: string) => createSigner({ name, algorithm: "ed25519" });
const [K, L] = await Promise.all([make("K"), make("L")]);

const both = "linux=a darwin=b";
describe("an offer", () => {
  it("is evidence of the digests that were signed, by its signer", async () => {
    const { verify } = await ask({ content: both, by: K });
    expect(await verify()).toMatchObject({
      ...{ isGood: true, signedBy: K.fingerprint, noted: undefined },
      content: new Map([
        ["linux_amd64", sha256Of("a")],
        ["darwin_amd64", sha256Of("b")],
      ]),
    });
  });

  it("is the same evidence whenever it is made, and another under another signature", async () => {
    const [one, same, byL] = await Promise.all(
      [K, K, L].map(async (by) => (await ask({ content: both, by })).verify()),
    );
    expect(same?.id).toBe(one?.id);
    expect(byL?.sha256sums).toBe(one?.sha256sums);
    expect(byL?.id).not.toBe(one?.id);
  });

  it.each([
    [
      "names another digest than was signed",
      { shasum: sha256Of("z") },
      "checksum-conflict",
    ],
    ["publishes no key", { signingKeys: [] }, "signature-missing"],
    [
      "publishes an unreadable key",
      { signingKeys: ["garbage"] },
      "signature-refused",
    ],
  ] as const)("is refused where the registry %s", async (_, changes, code) => {
    const { verify } = await ask({ content: both, by: K });
    await expect(verify(changes)).rejects.toThrow(failing(code));
  });

  it.each([
    failure("signature-refused", "it", "revoked", "it is revoked"),
    failure("checksums-malformed", "it", 1, "nonsense"),
    failure("not-found", "it"),
  ])("is a refusal for $code", (refused) => {
    expect(asRefusal(refused)).toBe(refused);
  });

  it.each([
    failure("origin-timeout", "https://registry.example.com/", "headers"),
    failure("signature-undecided", "it", "too slow"),
    new Error("a fault"),
  ])("is none where nothing is known for %s", async (failure) => {
    await expect(Promise.reject(failure).catch(asRefusal)).rejects.toBe(
      failure,
    );
  });
});

describe("what is known after an offer", () => {
  it("has the newest offer last, also one that comes again", async () => {
    const [a, b] = [
      { content: "linux=a", by: K },
      { content: "linux=c", by: L },
    ];
    const { trust } = await know(a, b, a);
    expect(trust.evidence.map(({ signedBy }) => signedBy)).toEqual([
      L.fingerprint,
      K.fingerprint,
    ]);
  });

  it.each([
    [
      "every key that is published",
      () => [K.armoredPublicKey, L.armoredPublicKey],
      () => [K.fingerprint, L.fingerprint],
    ],
    [
      "the signer's, of two blocks of which one is unreadable",
      () => [K.armoredPublicKey, "garbage"],
      () => [K.fingerprint],
    ],
  ])("publishes %s", async (_, keys, fingerprints) => {
    const { trust } = await know({ content: both, by: K, keys: keys() });
    expect([...trust.published].toSorted()).toEqual(fingerprints().toSorted());
  });

  it("publishes only what the registry publishes now", async () => {
    const keys = [K.armoredPublicKey, L.armoredPublicKey];
    const { trust } = await know(
      { content: both, by: K, keys },
      { content: both, by: L },
    );
    expect([...trust.published]).toEqual([L.fingerprint]);
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
