import { providerAddress } from "../../src/address/provider-address.ts";
import { parseVersion } from "../../src/address/version.ts";
import {
  bindPackages,
  checksumsSubject,
  type Release,
} from "../../src/mirror/releases/release.ts";
import type { Fingerprint } from "../../src/verification/fingerprints.ts";
import type { SignatureDecision } from "../../src/verification/signatures.ts";
import {
  acceptUnsignedChecksums,
  verifySignedChecksums,
} from "../../src/verification/signed-checksums.ts";
import {
  type SignatureJudge,
  judgeEvidence,
  type StoredEvidence,
} from "../../src/mirror/releases/evidence.ts";
import {
  unknownRelease,
  type KnownRelease,
} from "../../src/mirror/releases/known-release.ts";
import { sha256Of, writeChecksums } from "./test-registry.ts";

export const address = {
  provider: providerAddress("registry.terraform.io", "acme", "thing"),
  version: parseVersion("1.0.0"),
};

const accepting = (signedBy: string): SignatureDecision => ({
  accepted: true,
  signedBy: signedBy as Fingerprint,
  createdAt: new Date("2025-01-01T00:00:00Z"),
  warning: undefined,
});

const profile = "terraform";

/**
 * Sketch of a release for a table: its signer, and the content of each platform
 * as a letter.
 */
export interface Sketch {
  /** Signer; undefined for an unsigned release. */
  readonly by?: string | undefined;
  /** Such as `linux=a darwin=b`; a content names its SHA-256. */
  readonly content?: string;
}

/** The digest that a letter of a sketch stands for. */
export const digestOf: (letter: string) => string = sha256Of;

/** A judge to whom every signature is good, and by this key. */
export function judgeFor(by: string): SignatureJudge {
  return {
    library: "a table",
    decide: () => Promise.resolve(accepting(by)),
  };
}

/** Evidence that was verified, as it is kept. */
export async function evidenceOf(
  of: Sketch,
  noted?: StoredEvidence["noted"],
): Promise<StoredEvidence> {
  const { proof } = await sketch(of);
  const judge = judgeFor(of.by ?? "nobody");
  return judgeEvidence(address, proof, [], judge, noted);
}

/**
 * Makes a release with this evidence, pinned by the first of it.
 */
export async function knownOf(
  ...sketches: readonly Sketch[]
): Promise<KnownRelease> {
  const evidence = await Promise.all(
    sketches.map((one) => evidenceOf(one, "known")),
  );
  const [first] = evidence;
  return {
    ...unknownRelease,
    trust: { ...unknownRelease.trust, evidence, pinned: first && pin(first) },
  };
}

function pin({ content, sha256sums, signedBy }: StoredEvidence) {
  const at = new Date("2026-01-01T00:00:00Z");
  return { content, sha256sums, signedBy, at };
}

/** A release as it is after its signature was judged good, or excused. */
export async function sketch({
  by,
  content = "linux=a",
}: Sketch): Promise<Release> {
  const { provider, version } = address;
  const document = new Uint8Array(
    writeChecksums(provider, version, { content }),
  );
  const signature = new Uint8Array(Buffer.from("signature"));
  const proof = { document, signature, keys: ["KEYS"], profile } as const;
  const now = new Date("2026-01-01T00:00:00Z");
  const subject = checksumsSubject(address);
  const checksums =
    by === undefined
      ? acceptUnsignedChecksums(subject, document, "unsigned-when-published")
      : await verifySignedChecksums({ ...proof, subject, now }, () =>
          Promise.resolve(accepting(by)),
        );
  return {
    checksums,
    proof: {
      ...proof,
      ...{ exemption: checksums.exemption, verifiedAt: now, library: "none" },
    },
    packages: bindPackages(address, checksums.sha256ByFilename),
    places: new Map(),
    keyLabels: [],
    age: { old: true },
  };
}
