import { createHash } from "node:crypto";
import { SignatureRefused, type ProvenderError } from "../errors.ts";
import { judgeProof, type SignatureJudge } from "./release-verdict.ts";
import type { Release, ReleaseAddress } from "./release.ts";

/** What asking again for a known release brought: believed anew, or refused. */
export type Offer =
  { readonly release: Release } | { readonly refused: ProvenderError };

/** Which release clients get, and whether the origin offers another one under its name. */
export interface Continuity {
  readonly release: Release;
  readonly change: Change;
}

export type Change =
  | { readonly kind: "none" | "approved" }
  | {
      readonly kind: "replaced";
      /** SHA-256 of the SHA256SUMS that is offered instead, or why it is refused. */
      readonly offered: string;
      readonly fingerprint: string | undefined;
    };

/**
 * First seen wins. The first verified digest of a version and platform stays,
 * whatever the origin offers later, until an operator approves exactly the new
 * checksums; what is only added is taken. A known release falls only when its
 * own signature is refused under the keys that the registry publishes now.
 */
export async function reconcile(
  address: ReleaseAddress,
  known: Release,
  offer: Offer,
  keys: readonly string[],
  context: {
    readonly judge: SignatureJudge;
    readonly now: Date;
    readonly isApproved: (offered: string) => boolean;
  },
): Promise<Continuity> {
  const fallen = await findFall(address, known, keys, context);
  if ("refused" in offer) {
    if (fallen !== undefined) throw fallen;
    const reason = offer.refused.code;
    return { release: known, change: replaced(reason, undefined) };
  }
  const { release } = offer;
  const continued = { ...release, firstSeen: known.firstSeen };
  if (isConflict(known, release)) {
    if (context.isApproved(documentDigest(release)))
      return { release: continued, change: { kind: "approved" } };
    if (fallen !== undefined) throw fallen;
    const { signedBy } = release.checksums;
    const change = replaced(documentDigest(release), signedBy);
    return { release: known, change };
  }
  const takes = fallen !== undefined || addsSomething(known, release);
  return { release: takes ? continued : known, change: { kind: "none" } };
}

function replaced(offered: string, fingerprint: string | undefined): Change {
  return { kind: "replaced", offered, fingerprint };
}

/** Names the content of a SHA256SUMS in records and approvals. */
export function documentDigest({ proof }: Release): string {
  return createHash("sha256").update(proof.document).digest("hex");
}

/**
 * The refusal of the known signature under changed keys, if there is one. A key
 * that is merely no longer published does not undo what it signed.
 */
async function findFall(
  address: ReleaseAddress,
  { proof }: Release,
  keys: readonly string[],
  { judge, now }: { readonly judge: SignatureJudge; readonly now: Date },
): Promise<SignatureRefused | undefined> {
  if (isSameList(keys, proof.keys)) return undefined;
  try {
    await judgeProof(address, { ...proof, keys, verifiedAt: now }, judge);
    return undefined;
  } catch (error) {
    if (!(error instanceof SignatureRefused)) throw error;
    return error.reason === "unknown-issuer" ? undefined : error;
  }
}

function isConflict(known: Release, offered: Release): boolean {
  return [...known.packages].some(([platform, { sha256 }]) => {
    const now = offered.packages.get(platform)?.sha256;
    return now !== undefined && now !== sha256;
  });
}

/** More platforms, or a newer word of the same signer; never fewer platforms. */
function addsSomething(known: Release, offered: Release): boolean {
  const keepsAll = [...known.packages.keys()].every((platform) =>
    offered.packages.has(platform),
  );
  const sameSigner = known.checksums.signedBy === offered.checksums.signedBy;
  const wider = offered.packages.size > known.packages.size;
  const signedAtLast = known.checksums.signedBy === undefined;
  return keepsAll && (wider || sameSigner || signedAtLast);
}

export function isSameList(
  a: readonly string[],
  b: readonly string[],
): boolean {
  return a.length === b.length && a.every((text, index) => text === b[index]);
}
