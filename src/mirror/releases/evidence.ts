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
  checksumsSubject,
  formatRelease,
  pickNames,
  type ReleaseAddress,
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

/** Settles on what terms the evidence is to be judged. */
export function prepareProof(
  release: ReleaseAddress,
  evidence: ReleaseEvidence,
  policy: SignaturePolicy,
  library: string,
  now: Date,
): ReleaseProof {
  const exemption = findExemption(release, evidence, policy);
  return {
    ...evidence,
    ...ownBytes(evidence),
    profile: policy.profile,
    exemption,
    verifiedAt: now,
    library,
  };
}

/**
 * Copies the bytes into memory of their own, since a small Buffer keeps the
 * large one that it is part of.
 */
export function ownBytes({
  document,
  signature,
}: Pick<ReleaseProof, "document" | "signature">) {
  return {
    document: new Uint8Array(document),
    signature: signature && new Uint8Array(signature),
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

/** Decides on a proof as of `verifiedAt`: the same answer today and when it is read back years later. */
async function judgeProof(
  release: ReleaseAddress,
  proof: ReleaseProof,
  judge: SignatureJudge,
): Promise<SignedChecksums> {
  const subject = checksumsSubject(release);
  const { document, signature, keys, profile, verifiedAt: now } = proof;
  if (proof.exemption !== undefined)
    return acceptUnsignedChecksums(subject, document, proof.exemption);
  if (signature === undefined)
    throw failure("signature-missing", subject.release, "signature");
  const claim = { subject, document, signature, keys, profile, now };
  return verifySignedChecksums(claim, (question) =>
    judge.decide(subject.release, question),
  );
}

/**
 * Returns the exemption from a signature. Unless signatures are off, a
 * published key must verify; only its absence is excused.
 */
function findExemption(
  release: ReleaseAddress,
  { keys, signature }: ReleaseEvidence,
  { signatures }: SignaturePolicy,
): Exemption | undefined {
  if (signatures === "off") return "signatures-off";
  const missing =
    keys.length === 0
      ? "signing key"
      : signature === undefined
        ? "signature"
        : undefined;
  if (missing === undefined) return undefined;
  if (keys.length === 0 && signatures === "when-published")
    return "unsigned-when-published";
  throw failure("signature-missing", formatRelease(release), missing);
}

/** Evidence with everything that is needed to verify it again. */
export interface StoredEvidence extends Evidence {
  readonly proof: ReleaseProof;
  /** One for each of the proof's keys, or none. */
  readonly keyLabels: readonly KeyLabel[];
  /** Undefined while it is not good. */
  readonly checksums: SignedChecksums | undefined;
  /** Reason why it is not good. */
  readonly fault: ProvenderError | undefined;
}

/** Names the content of a SHA256SUMS, as operators see it. */
export function digestOf(document: Uint8Array): string {
  return hash("sha256", document);
}

/** The evidence of an accepted signature, or of an exemption. Throws why there is none. */
export async function judgeEvidence(
  address: ReleaseAddress,
  proof: ReleaseProof,
  keyLabels: readonly KeyLabel[],
  judge: SignatureJudge,
): Promise<StoredEvidence & { readonly checksums: SignedChecksums }> {
  const checksums = await judgeProof(address, proof, judge);
  const { signedBy, signedAt, exemption, sha256ByFilename } = checksums;
  return {
    ...identify(proof),
    ...{ proof, keyLabels, checksums, signedBy, signedAt, exemption },
    content: contentOf(address, sha256ByFilename),
    isGood: true,
    fault: undefined,
    noted: undefined,
  };
}

/** Recorded evidence that does not hold today; its content is still known. */
export function faultyEvidence(
  address: ReleaseAddress,
  proof: ReleaseProof,
  keyLabels: readonly KeyLabel[],
  signed: Pick<Evidence, "signedBy" | "signedAt">,
  fault: ProvenderError,
): StoredEvidence {
  return {
    ...identify(proof),
    ...{ proof, keyLabels, fault },
    ...{ signedBy: signed.signedBy, signedAt: signed.signedAt },
    exemption: proof.exemption,
    content: readContent(address, proof),
    isGood: false,
    checksums: undefined,
    noted: undefined,
  };
}

/** Reads which archives a document names; nothing is verified. */
export function readContent(
  address: ReleaseAddress,
  { document }: Pick<ReleaseProof, "document">,
): Content {
  const subject = checksumsSubject(address);
  return contentOf(address, parseChecksumsDocument(subject, document));
}

/** A signature that nobody checked is no part of what was admitted: once there are keys for it, it is another piece of evidence. */
function identify({ document, signature, exemption }: ReleaseProof) {
  const sha256sums = digestOf(document);
  const checked = exemption === undefined ? signature : undefined;
  const parts = [Buffer.from(sha256sums), checked ?? new Uint8Array()];
  return { id: digestOf(Buffer.concat(parts)), sha256sums };
}

function contentOf(
  address: ReleaseAddress,
  digests: ReadonlyMap<string, Sha256>,
): Content {
  const content = new Map<string, Sha256>();
  for (const [platform, filename] of pickNames(address, digests)) {
    const sha256 = digests.get(filename);
    if (sha256 !== undefined) content.set(platform, sha256);
  }
  return content;
}
