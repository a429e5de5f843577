import { hash } from "node:crypto";
import type { Sha256 } from "../../address/hash.ts";
import { failure, type ProvenderError } from "../../errors/index.ts";
import type {
  OriginChecksums,
  ProviderOrigin,
} from "../../origin/registries/provider-origin.ts";
import type { KeyLabel } from "../../origin/registries/registry-answers.ts";
import type { Content } from "../../trust/content.ts";
import type { Evidence } from "../../trust/state.ts";
import { parseChecksumsDocument } from "../../verification/checksums-document.ts";
import type {
  SignatureDecision,
  SignatureProfile,
  SignatureQuestion,
} from "../../verification/signatures.ts";
import {
  acceptUnsignedChecksums,
  verifySignedChecksums,
  type Exemption,
  type SignedChecksums,
} from "../../verification/signed-checksums.ts";
import type { Clock } from "../cache/clock.ts";
import {
  bindPackages,
  checksumsSubject,
  formatRelease,
  type ReleaseAddress,
  type ReleasePackage,
  type ReleaseProof,
} from "./release.ts";

/** Signature policy that the operator set for an origin. */
export interface SignaturePolicy {
  readonly signatures: "required" | "when-published" | "off";
  readonly profile: SignatureProfile;
}

/** Decides on signatures away from the event loop, with a deadline. */
export interface SignatureJudge {
  /** Rejects with signature-undecided when there is no decision in time. */
  decide(
    release: string,
    question: SignatureQuestion,
  ): Promise<SignatureDecision>;
  /** Name and version of the library that does the arithmetic. */
  readonly library: string;
}

/** One origin and how its releases are judged. */
export interface ReleaseOrigin {
  readonly registry: ProviderOrigin;
  /** Milliseconds for which a list is fresh, if not the default. */
  readonly freshFor?: number | undefined;
  readonly policy: SignaturePolicy;
  readonly judge: SignatureJudge;
  readonly clock: Clock;
}

/** Verification material of a release, as it came from the origin. */
export interface ReleaseEvidence extends OriginChecksums {
  readonly keys: readonly string[];
}

/**
 * Settles on what terms the evidence is to be judged. Unless signatures are off,
 * a published key must verify; only its absence is excused. The bytes are copied
 * into memory of their own, since a small Buffer keeps the large one that it is
 * part of.
 */
export function prepareProof(
  release: ReleaseAddress,
  { document, signature, keys }: ReleaseEvidence,
  { signatures, profile }: SignaturePolicy,
  library: string,
  now: Date,
): ReleaseProof {
  let exemption: Exemption | undefined;
  if (signatures === "off") exemption = "signatures-off";
  else if (keys.length === 0 && signatures === "when-published")
    exemption = "unsigned-when-published";
  else if (keys.length === 0 || signature === undefined) {
    const missing = keys.length === 0 ? "signing key" : "signature";
    throw failure("signature-missing", formatRelease(release), missing);
  }
  return {
    document: new Uint8Array(document),
    signature: signature && new Uint8Array(signature),
    ...{ keys, profile, exemption, verifiedAt: now, library },
  };
}

/** True when the proof was judged as the operator asks today. */
export function matchesPolicy(
  { profile, exemption }: ReleaseProof,
  policy: SignaturePolicy,
): boolean {
  const excused =
    exemption === undefined ||
    policy.signatures === "off" ||
    (exemption === "unsigned-when-published" &&
      policy.signatures === "when-published");
  return excused && profile === policy.profile;
}

/** Evidence with everything that is needed to verify it again. */
export interface StoredEvidence extends Evidence {
  readonly proof: ReleaseProof;
  /** One for each of the proof's keys, or none. */
  readonly keyLabels: readonly KeyLabel[];
  /** Undefined while it is not good. */
  readonly checksums: SignedChecksums | undefined;
  /** By OS_ARCH; none while it is not good. */
  readonly packages: ReadonlyMap<string, ReleasePackage>;
  /** Reason why it is not good. */
  readonly fault: ProvenderError | undefined;
}

/** Names the content of a SHA256SUMS, as operators see it. */
export function digestOf(document: Uint8Array): string {
  return hash("sha256", document);
}

/** Publishers have about 15; every one is looked up for each document. */
const mostPlatforms = 256;

/**
 * The evidence of an accepted signature, or of an exemption, decided as of
 * `verifiedAt`: the same answer today and when it is read back years later.
 * Throws why there is none.
 */
export async function judgeEvidence(
  address: ReleaseAddress,
  proof: ReleaseProof,
  keyLabels: readonly KeyLabel[],
  judge: SignatureJudge,
  noted?: Evidence["noted"],
): Promise<StoredEvidence & { readonly checksums: SignedChecksums }> {
  const subject = checksumsSubject(address);
  const { release } = subject;
  const { document, signature, keys, profile, verifiedAt: now } = proof;
  let checksums: SignedChecksums;
  if (proof.exemption !== undefined)
    checksums = acceptUnsignedChecksums(subject, document, proof.exemption);
  else if (signature === undefined)
    throw failure("signature-missing", release, "signature");
  else
    checksums = await verifySignedChecksums(
      { subject, document, signature, keys, profile, now },
      (question) => judge.decide(release, question),
    );
  const packages = bindPackages(address, checksums.sha256ByFilename);
  if (packages.size > mostPlatforms) {
    const problem = `expected at most ${mostPlatforms} platforms, got ${packages.size}`;
    throw failure("checksums-malformed", release, mostPlatforms + 1, problem);
  }
  const { signedBy, signedAt, exemption } = checksums;
  return {
    ...identify(proof),
    ...{ proof, keyLabels, checksums, packages, noted },
    ...{ signedBy, signedAt, exemption },
    content: contentOf(packages),
    isGood: true,
    fault: undefined,
  };
}

/** Evidence that does not hold today; its content is still known. */
export function faultyEvidence(
  address: ReleaseAddress,
  proof: ReleaseProof,
  before: Pick<StoredEvidence, "signedBy" | "signedAt" | "keyLabels" | "noted">,
  fault: ProvenderError,
): StoredEvidence {
  const { signedBy, signedAt, keyLabels, noted } = before;
  return {
    ...identify(proof),
    ...{ proof, keyLabels, fault, signedBy, signedAt, noted },
    exemption: proof.exemption,
    content: readContent(address, proof),
    isGood: false,
    checksums: undefined,
    packages: new Map(),
  };
}

/** Reads which archives a document names; nothing is verified. */
export function readContent(
  address: ReleaseAddress,
  { document }: Pick<ReleaseProof, "document">,
): Content {
  const subject = checksumsSubject(address);
  const digests = parseChecksumsDocument(subject, document);
  return contentOf(bindPackages(address, digests));
}

function contentOf(
  packages: ReadonlyMap<string, ReleasePackage<Sha256>>,
): Content {
  const content = new Map<string, Sha256>();
  for (const [name, { sha256 }] of packages) content.set(name, sha256);
  return content;
}

/** A signature that nobody checked is no part of what was admitted: once there are keys for it, it is another piece of evidence. */
function identify({ document, signature, exemption }: ReleaseProof) {
  const sha256sums = digestOf(document);
  const checked = exemption === undefined ? signature : undefined;
  const parts = [Buffer.from(sha256sums), checked ?? new Uint8Array()];
  return { id: digestOf(Buffer.concat(parts)), sha256sums };
}
