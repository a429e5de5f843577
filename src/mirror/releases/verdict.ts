import { failure } from "../../errors/index.ts";
import type {
  OriginChecksums,
  ProviderOrigin,
} from "../../origin/registries/provider-origin.ts";
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
export async function judgeProof(
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
