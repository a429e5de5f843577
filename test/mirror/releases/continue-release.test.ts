import { describe, expect, it } from "vitest";
import type { Sha256 } from "../../../src/address/hash.ts";
import { SignatureRefused } from "../../../src/errors/index.ts";
import {
  documentDigest,
  type Standing,
} from "../../../src/mirror/releases/continuity.ts";
import {
  believeOffer,
  continueRelease,
} from "../../../src/mirror/releases/fetch.ts";
import type { SignatureJudge } from "../../../src/mirror/releases/verdict.ts";
import type { SignatureQuestion } from "../../../src/verification/openpgp/signature.ts";
import { makeRelease, type Release } from "../../fakes/release.ts";
import { createSigner } from "../../fakes/signing.ts";
import {
  describePackage,
  digestOf,
  fetchedFrom,
  now,
  originOf,
  placeOf,
  widget as address,
  widgetOptions as options,
} from "../../scenes/offered-release.ts";
import { h1Of } from "../../scenes/release-sketches.ts";

const first = await makeRelease(options);
const other = { ...options, seed: "other" };
const replaced = await makeRelease(other);
const signedAnew = await makeRelease({
  ...options,
  signer: await createSigner({ name: "Other" }),
});
const origin = originOf();

const believe = (offered: Release, said = describePackage(offered)) =>
  believeOffer(origin, address, said, fetchedFrom(offered), undefined);

/** What goes on of the first release when this one is offered, with another word on its h1 and of places. */
async function continueWith(
  offered: Release,
  {
    before = first,
    seen = new Map<string, Sha256>(),
    judge = origin.judge,
    standing = {},
  }: {
    readonly before?: Release;
    /** Digests that were seen first, by file name. */
    readonly seen?: ReadonlyMap<string, Sha256>;
    readonly judge?: SignatureJudge;
    readonly standing?: Partial<Standing>;
  } = {},
) {
  const known = await believe(before);
  const said = {
    ...describePackage(offered),
    reported: new Map([
      ["linux_amd64", { packageHashes: [h1Of("y")], size: undefined }],
    ]),
  };
  const release = await believe(offered, said);
  const continuity = await continueRelease(
    { ...origin, judge },
    ...[address, known, { release }, said],
    {
      standing: {
        ...{ isApproved: () => false, fallen: undefined },
        ...{ signedAnewBy: undefined, ...standing },
      },
      first: seen,
    },
  );
  return { continuity, known, release };
}

describe("a release that is known", () => {
  it("goes on with its first report and the places of now, when the same is offered", async () => {
    const { continuity } = await continueWith(first);
    const { release, change, fallen } = continuity;
    expect(change).toEqual({ kind: "none" });
    expect(fallen).toBeUndefined();
    expect(release.reported.get("linux_amd64")).toMatchObject({
      packageHashes: [h1Of("x")],
      offered: [h1Of("y")],
    });
    const places = options.platforms.map((platform) => [
      platform,
      placeOf(digestOf(first.archive(platform).bytes)).href,
    ]);
    expect([...release.places]).toEqual(places);
  });

  it("goes on without places and with nothing of what is said of other content", async () => {
    const { continuity, known, release } = await continueWith(replaced);
    const digest = documentDigest(release);
    const signedBy = first.signer.fingerprint;
    expect(continuity.change).toEqual({
      kind: "replaced",
      offered: { digest, signedBy },
    });
    expect(continuity.release).toEqual({ ...known, places: new Map() });
    expect(continuity.release.reported).toBe(known.reported);
  });

  it("makes way for other content that was approved, with what is said of that", async () => {
    const approved = digestOf(Buffer.from(replaced.checksums));
    const { continuity, release } = await continueWith(replaced, {
      standing: { isApproved: (digest) => digest === approved },
    });
    expect(continuity.change).toEqual({ kind: "approved" });
    expect(continuity.release.packages).toEqual(release.packages);
    expect(continuity.release.reported).toEqual(release.reported);
    expect([...continuity.release.places]).toEqual([...release.places]);
    expect(continuity.release.places.size).toBe(2);
  });

  it("is held to the keys that the registry publishes now, as of now", async () => {
    const asked: SignatureQuestion[] = [];
    const judge: SignatureJudge = {
      library: "a table",
      decide: (_, question) => {
        asked.push(question);
        const reason = "revoked";
        return Promise.resolve({ accepted: false, reason, detail: reason });
      },
    };
    const { continuity } = await continueWith(signedAnew, { judge });
    const before = first.signer.fingerprint;
    expect(continuity.change).toEqual({ kind: "signed-anew", before });
    const keys = [signedAnew.signer.armoredPublicKey];
    const signature = new Uint8Array(first.signature);
    expect(asked).toMatchObject([{ keys, now, signature }]);
    const both = await makeRelease({ ...other, signer: signedAnew.signer });
    const fallen = await continueWith(both, { judge });
    expect(fallen.continuity.change.kind).toBe("replaced");
    expect(fallen.continuity.fallen?.reason).toBe("revoked");
  });

  it("is held against every digest that was seen first", async () => {
    const linux = { ...options, platforms: ["linux_amd64"] };
    const before = await makeRelease(linux);
    expect((await continueWith(first, { before })).continuity.change.kind).toBe(
      "none",
    );
    const { filename } = first.archive("darwin_arm64");
    const seen = new Map([[filename, digestOf(Buffer.from("first"))]]);
    const { continuity } = await continueWith(first, { before, seen });
    expect(continuity.change.kind).toBe("replaced");
  });

  it.each([
    ["its keys are published", first, "none"],
    ["other keys are published", signedAnew, "signed-anew"],
  ])(
    "that fell earlier is known as that, when %s",
    async (_, release, kind) => {
      const fallen = new SignatureRefused("it", "revoked", "it was before");
      const { continuity } = await continueWith(release, {
        standing: { fallen },
      });
      expect(continuity.change.kind).toBe(kind);
    },
  );
});
