import { describe, expect, it } from "vitest";
import {
  ArchiveNotSigned,
  ChecksumConflict,
  ChecksumsMalformed,
  NetworkMirrorUnsigned,
  NotFound,
  OriginTimedOut,
  SignatureMissing,
  SignatureRefused,
  SignatureUndecided,
} from "../../../src/errors/index.ts";
import { asOffer, believeOffer } from "../../../src/mirror/releases/fetch.ts";
import type { OriginChecksums } from "../../../src/origin/registries/provider-origin.ts";
import type { OriginPackage } from "../../../src/origin/registries/registry-answers.ts";
import { makeRelease } from "../../fakes/release.ts";
import { createSigner } from "../../fakes/signing.ts";
import {
  describePackage,
  digestOf,
  fetchedFrom,
  label,
  linux,
  now,
  originOf,
  placeOf,
  widget as address,
  widgetOptions as options,
} from "../../scenes/offered-release.ts";

const first = await makeRelease(options);
const replaced = await makeRelease({ ...options, seed: "other" });
const otherSigner = await createSigner({ name: "Other" });
const { filename, bytes } = first.archive("linux_amd64");
const sha256 = digestOf(bytes);
const unsigned = digestOf(Buffer.from("unsigned"));
const found = describePackage(first);
const fetched = fetchedFrom(first);

const believe = (
  said: Partial<OriginPackage> = {},
  evidence: Partial<OriginChecksums> = {},
  policy: Parameters<typeof originOf>[1] = {},
  offered?: Parameters<typeof believeOffer>[4],
) =>
  believeOffer(
    originOf({}, policy),
    address,
    { ...found, ...said },
    { ...fetched, ...evidence },
    offered,
  );

describe("what an origin offers", () => {
  it("is believed with its proof, as of now, and with what nobody signed beside it", async () => {
    const release = await believe();
    expect(release.checksums.signedBy).toBe(first.signer.fingerprint);
    expect(release.proof).toEqual({
      source: "registry",
      document: new Uint8Array(fetched.document),
      signature: new Uint8Array(first.signature),
      keys: [first.signer.armoredPublicKey],
      profile: "terraform",
      exemption: undefined,
      verifiedAt: now,
      library: "arithmetic 1",
    });
    expect(release.firstSeen).toBe(now);
    expect(release.reported).toBe(found.reported);
    expect(release.keyLabels).toEqual([label]);
    expect(release.packages.get("linux_amd64")).toEqual({
      platform: linux,
      filename,
      sha256,
    });
  });

  it.each([
    ["that are offered", [linux], ["linux_amd64"]],
    ["that are signed, where it names none", undefined, options.platforms],
  ])(
    "is for the platforms %s, and for these its archives have places",
    async (_, offered, expected) => {
      const release = await believe({}, {}, {}, offered);
      expect([...release.packages.keys()]).toEqual(expected);
      const places = expected.map((platform) => [
        platform,
        placeOf(digestOf(first.archive(platform).bytes)).href,
      ]);
      expect([...release.places]).toEqual(places);
    },
  );

  it("has no place for an archive of which the origin tells none", async () => {
    const release = await believe({ places: new Map() });
    expect(release.packages.size).toBe(2);
    expect([...release.places]).toEqual([]);
  });

  it.each<readonly [string, Parameters<typeof believe>]>([
    ["names no digest", [{ shasum: undefined }]],
    [
      "names no digest, of a file that nobody signed",
      [{ shasum: undefined, filename: "other.zip" }],
    ],
    [
      "has no key, and signatures are asked for when published",
      [{ signingKeys: [] }, {}, { signatures: "when-published" }],
    ],
    [
      "has another signature, and signatures are off",
      [{}, { signature: Buffer.from("none") }, { signatures: "off" }],
    ],
  ])("is believed where it %s", async (_, asked) => {
    const release = await believe(...asked);
    expect(release.packages.get("linux_amd64")?.sha256).toBe(sha256);
  });

  it.each<
    readonly [
      string,
      Parameters<typeof believe>,
      new (...args: never[]) => Error,
      object,
    ]
  >([
    [
      "names another digest than was signed",
      [{ shasum: unsigned }],
      ChecksumConflict,
      {
        expected: sha256,
        got: unsigned,
        message: expect.stringContaining(filename) as string,
      },
    ],
    [
      "names the digest of a file that nobody signed",
      [{ filename: "other.zip" }],
      ArchiveNotSigned,
      { filename: "other.zip" },
    ],
    [
      "has the document of another signature",
      [{}, { document: Buffer.from(replaced.checksums) }],
      SignatureRefused,
      { reason: "bad-signature" },
    ],
    [
      "lists another key",
      [{ signingKeys: [otherSigner.armoredPublicKey] }],
      SignatureRefused,
      { reason: "unknown-issuer" },
    ],
    [
      "has no signature",
      [{}, { signature: undefined }],
      SignatureMissing,
      { code: "signature-missing" },
    ],
    [
      "has no key",
      [{ signingKeys: [] }],
      SignatureMissing,
      { code: "signature-missing" },
    ],
    [
      "is a network mirror",
      [{ signingKeys: [] }, { source: "network-mirror" }],
      NetworkMirrorUnsigned,
      {},
    ],
  ])("is refused where it %s", async (_, asked, kind, facts) => {
    const refusal = await believe(...asked).catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(kind);
    expect(refusal).toMatchObject(facts);
  });
});

describe("an offer", () => {
  it("is the release that was believed", async () => {
    const release = await believe();
    expect(await asOffer(Promise.resolve(release))).toEqual({ release });
  });

  it.each([
    new SignatureRefused("it", "revoked", "it is revoked"),
    new ChecksumsMalformed("it", 1, "nonsense"),
    new NotFound("it"),
  ])("is a refusal for $code", async (refused) => {
    expect(await asOffer(Promise.reject(refused))).toEqual({ refused });
  });

  it.each([
    new OriginTimedOut("https://registry.example.com/", "headers"),
    new SignatureUndecided("it", "too slow"),
    new Error("a fault"),
  ])("is none where nothing is known for %s", async (failure) => {
    await expect(asOffer(Promise.reject(failure))).rejects.toBe(failure);
  });
});
