import type { Sha256 } from "../address/hash.ts";
import { failure } from "../errors/index.ts";
import {
  parseChecksumsDocument,
  type ChecksumsSubject,
} from "./checksums-document.ts";
import type { Fingerprint } from "./fingerprints.ts";
import type { SignatureDecision, SignatureQuestion } from "./signatures.ts";

const proof = Symbol("verified");

/** A digest that a publisher signed for, or that an explicit exemption lets through. */
export type TrustedSha256 = Sha256 & { readonly [proof]: true };

export type Exemption = "unsigned-when-published" | "signatures-off";

export interface SignedChecksums {
  readonly [proof]: true;
  readonly release: string;
  /** The primary key's fingerprint; undefined under an exemption. */
  readonly signedBy: Fingerprint | undefined;
  readonly signedAt: Date | undefined;
  readonly exemption: Exemption | undefined;
  /** Digests by file name, for names with the prefix of the release. */
  readonly sha256ByFilename: ReadonlyMap<string, TrustedSha256>;
}

/**
 * The signature first, then the strict parse.
 * `decide` is where the arithmetic runs (a worker thread with a deadline).
 * Throws signature-refused or checksums-malformed.
 */
export async function verifySignedChecksums(
  claim: SignatureQuestion & { readonly subject: ChecksumsSubject },
  decide: (question: SignatureQuestion) => Promise<SignatureDecision>,
): Promise<SignedChecksums> {
  const { subject, ...question } = claim;
  const decision = await decide(question);
  if (!decision.accepted)
    throw failure(
      "signature-refused",
      subject.release,
      decision.reason,
      decision.detail,
    );
  const { signedBy, createdAt: signedAt } = decision;
  const said = { signedBy, signedAt, exemption: undefined };
  return trust(subject, claim.document, said);
}

/** Believes the registry's word instead of a signature, because the operator configured it so. */
export function acceptUnsignedChecksums(
  subject: ChecksumsSubject,
  document: Uint8Array,
  exemption: Exemption,
): SignedChecksums {
  const said = { signedBy: undefined, signedAt: undefined, exemption };
  return trust(subject, document, said);
}

/** The digest that the document has for this archive. Throws archive-not-signed when it does not name it. */
export function findTrustedDigest(
  checksums: SignedChecksums,
  filename: string,
): TrustedSha256 {
  const digest = checksums.sha256ByFilename.get(filename);
  if (digest === undefined)
    throw failure("archive-not-signed", checksums.release, filename);
  return digest;
}

/** Throws checksum-conflict unless the registry's own `shasum` is what was signed. */
export function verifyRegistryDigest(
  filename: string,
  trusted: TrustedSha256,
  shasum: Sha256,
): void {
  if (shasum !== trusted)
    throw failure(
      "checksum-conflict",
      filename,
      trusted,
      shasum,
      "the registry",
    );
}

function trust(
  subject: ChecksumsSubject,
  document: Uint8Array,
  said: Omit<SignedChecksums, typeof proof | "release" | "sha256ByFilename">,
): SignedChecksums {
  const read = parseChecksumsDocument(subject, document);
  const sha256ByFilename = read as ReadonlyMap<string, TrustedSha256>;
  return { [proof]: true, release: subject.release, ...said, sha256ByFilename };
}
