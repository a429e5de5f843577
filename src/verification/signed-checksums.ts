import type { Sha256 } from "../address/hash.ts";
import {
  ArchiveNotSigned,
  ChecksumConflict,
  SignatureRefused,
} from "../errors/index.ts";
import { parseChecksumsDocument } from "./checksums-document.ts";
import type {
  Fingerprint,
  SignatureDecision,
  SignatureProfile,
  SignatureQuestion,
} from "./openpgp/signature.ts";

const proof = Symbol("verified");

/** A digest that a publisher signed for, or that an explicit exemption lets through. */
export type TrustedSha256 = Sha256 & { readonly [proof]: true };

/** Why checksums without a verified signature are believed; recorded with them. */
export type Exemption = "unsigned-when-published" | "signatures-off";

/** A checksums document that was believed, and on whose word. */
export interface SignedChecksums {
  readonly [proof]: true;
  readonly release: string;
  /** The primary key's fingerprint; undefined under an exemption. */
  readonly signedBy: Fingerprint | undefined;
  readonly signedAt: Date | undefined;
  readonly exemption: Exemption | undefined;
  readonly warning: string | undefined;
  readonly sha256ByFilename: ReadonlyMap<string, TrustedSha256>;
}

/** `release` names provider and version in errors, such as "registry.terraform.io/hashicorp/null 3.2.4". */
interface ChecksumsClaim {
  readonly release: string;
  readonly document: Uint8Array;
  readonly signature: Uint8Array;
  readonly keys: readonly string[];
  readonly profile: SignatureProfile;
  readonly now: Date;
}

/**
 * The signature first, then the strict parse.
 * `decide` is where the arithmetic runs (a worker thread with a deadline).
 * Throws SignatureRefused or ChecksumsMalformed.
 */
export async function verifySignedChecksums(
  claim: ChecksumsClaim,
  decide: (question: SignatureQuestion) => Promise<SignatureDecision>,
): Promise<SignedChecksums> {
  const { release, ...question } = claim;
  const decision = await decide(question);
  if (!decision.accepted)
    throw new SignatureRefused(release, decision.reason, decision.detail);
  return {
    [proof]: true,
    release,
    signedBy: decision.signedBy,
    signedAt: decision.createdAt,
    exemption: undefined,
    warning: decision.warning,
    sha256ByFilename: trust(parseChecksumsDocument(release, claim.document)),
  };
}

/** Believes the registry's word instead of a signature, because the operator configured it so. */
export function acceptUnsignedChecksums(
  release: string,
  document: Uint8Array,
  exemption: Exemption,
): SignedChecksums {
  return {
    [proof]: true,
    release,
    signedBy: undefined,
    signedAt: undefined,
    exemption,
    warning: undefined,
    sha256ByFilename: trust(parseChecksumsDocument(release, document)),
  };
}

/** The digest that the document has for this archive. Throws ArchiveNotSigned when it does not name it. */
export function findTrustedDigest(
  checksums: SignedChecksums,
  filename: string,
): TrustedSha256 {
  const digest = checksums.sha256ByFilename.get(filename);
  if (digest === undefined)
    throw new ArchiveNotSigned(checksums.release, filename);
  return digest;
}

/** Throws ChecksumConflict unless the registry's own `shasum` is what was signed. */
export function verifyRegistryDigest(
  filename: string,
  trusted: TrustedSha256,
  shasum: Sha256,
): void {
  if (shasum !== trusted)
    throw new ChecksumConflict(filename, trusted, shasum, "the registry");
}

function trust(
  digests: ReadonlyMap<string, Sha256>,
): ReadonlyMap<string, TrustedSha256> {
  return digests as ReadonlyMap<string, TrustedSha256>;
}
