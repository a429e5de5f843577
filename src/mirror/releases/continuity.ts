import { createHash } from "node:crypto";
import type { Sha256 } from "../../address/hash.ts";
import {
  SignatureRefused,
  SignatureUndecided,
  type ProvenderError,
} from "../../errors/index.ts";
import { tellsOthers } from "./reported-hashes.ts";
import { judgeProof, type SignatureJudge } from "./verdict.ts";
import {
  listSignedArchives,
  type Release,
  type ReleaseAddress,
} from "./release.ts";

/** What asking again for a known release brought: believed anew, or refused. */
export type Offer =
  { readonly release: Release } | { readonly refused: ProvenderError };

/** Which release clients get, and whether the origin offers another one under its name. */
export interface Continuity {
  readonly release: Release;
  readonly change: Change;
  /** Why a release that was believed is to be believed no more. */
  readonly fallen?: SignatureRefused | undefined;
}

/** Verdicts that take back what was believed; a key block that cannot be read, or that has other keys, says nothing. */
const falls: ReadonlySet<string> = new Set([
  "revoked",
  "key-expired",
  "signature-expired",
]);

/** True for the reasons of refusal that undo a signature that was good. */
export function isFall(reason: string): boolean {
  return falls.has(reason);
}

/** What was decided on a release before it is asked for again. */
export interface Standing {
  /** Tells whether an operator approved a given SHA256SUMS under this key in place of the first. */
  readonly isApproved: (
    digest: string,
    signedBy: string | undefined,
  ) => boolean;
  /** Why the release that was seen first is believed no more. */
  readonly fallen: SignatureRefused | undefined;
  /** Who signed it anew once it had fallen, unless that key is known otherwise: it is believed for what was seen first alone. */
  readonly signedAnewBy: string | undefined;
}

export type Change =
  | { readonly kind: "none" | "approved" }
  | {
      /** The same digests under another key, since the first signature fell. */
      readonly kind: "signed-anew";
      /** Who signed before. */
      readonly before: string;
    }
  | { readonly kind: "replaced"; readonly offered: OtherContent };

/** What an origin offers in place of the content that was seen first. */
export type OtherContent =
  | {
      /** SHA-256 of its SHA256SUMS. */
      readonly digest: string;
      /** undefined when nobody signed. */
      readonly signedBy: string | undefined;
    }
  | {
      /** The code of the error that refuses it. */
      readonly refused: string;
    };

interface ContinuityContext {
  readonly judge: SignatureJudge;
  readonly now: Date;
  readonly standing: Standing;
  /** The digests that were seen first, by file name. */
  readonly first: ReadonlyMap<string, Sha256>;
}

/**
 * First seen wins. The first verified digest of a version and platform stays,
 * whatever the origin offers later, until an operator approves exactly the new
 * checksums; what the same signer only adds is taken. A known release falls when
 * its own signature is revoked or has expired under the keys that the registry
 * publishes now, and stands again only when they say so, or when the same digests
 * are signed anew. With `keys` undefined nobody published any.
 */
export async function reconcile(
  address: ReleaseAddress,
  known: Release,
  offer: Offer,
  keys: readonly string[] | undefined,
  context: ContinuityContext,
): Promise<Continuity> {
  const { isApproved } = context.standing;
  const fallen = await findFall(address, known, keys, context);
  if ("refused" in offer) {
    const offered = { refused: offer.refused.code };
    return { release: known, change: { kind: "replaced", offered }, fallen };
  }
  const { release } = offer;
  const continued = { ...release, firstSeen: known.firstSeen };
  const { signedBy } = release.checksums;
  const before = known.checksums.signedBy;
  const isSameWord = before === undefined || before === signedBy;
  if (isOtherContent(address, known, release, context)) {
    return isApproved(documentDigest(release), signedBy)
      ? { release: continued, change: { kind: "approved" } }
      : { release: known, change: replacedBy(release), fallen };
  }
  if (fallen !== undefined && isExcused(release))
    return { release: known, change: { kind: "none" }, fallen };
  if (fallen !== undefined && !isSameWord)
    return { release: continued, change: { kind: "signed-anew", before } };
  const takes = fallen !== undefined || (isSameWord && isWhole(known, release));
  return { release: takes ? continued : known, change: { kind: "none" } };
}

/**
 * Of a release of which nothing is known that could go on; `before` is who
 * signed it first, if that is recorded. Throws why it fell before, when nobody
 * signs it now.
 */
export function begin(
  release: Release,
  { fallen }: Standing,
  before: string | undefined,
): Continuity {
  if (fallen !== undefined && isExcused(release)) throw fallen;
  return before === undefined || before === release.checksums.signedBy
    ? { release, change: { kind: "none" } }
    : { release, change: { kind: "signed-anew", before } };
}

/** Nobody signed it, which lifts no fall, unless the operator wants no signatures. */
function isExcused({ proof }: Release): boolean {
  return proof.exemption === "unsigned-when-published";
}

/** Of a release that is offered with other content than its first. */
export function replacedBy(release: Release): Change {
  const { signedBy } = release.checksums;
  const offered = { digest: documentDigest(release), signedBy };
  return { kind: "replaced", offered };
}

/** Names the content of a SHA256SUMS in records and approvals. */
export function documentDigest({ proof }: Release): string {
  return createHash("sha256").update(proof.document).digest("hex");
}

/**
 * The refusal of the known signature under changed keys, or the one from before
 * when these keys do not tell: a key that is merely no longer published does not
 * undo what it signed, nor does it restore what was undone.
 */
async function findFall(
  address: ReleaseAddress,
  known: Release,
  keys: readonly string[] | undefined,
  { judge, now, standing }: ContinuityContext,
): Promise<SignatureRefused | undefined> {
  const { proof } = known;
  if (keys === undefined || isExcused(known)) return standing.fallen;
  if (isSameList(keys, proof.keys)) return undefined;
  try {
    await judgeProof(address, { ...proof, keys, verifiedAt: now }, judge);
    return undefined;
  } catch (error) {
    if (error instanceof SignatureUndecided) return standing.fallen;
    if (!(error instanceof SignatureRefused)) throw error;
    return isFall(error.reason) ? error : standing.fallen;
  }
}

/** Other digests than were seen first, or archives beside them on the word of somebody who may not add any. */
function isOtherContent(
  address: ReleaseAddress,
  known: Release,
  offered: Release,
  context: ContinuityContext,
): boolean {
  const { signedBy } = offered.checksums;
  const before = known.checksums.signedBy;
  const { signedAnewBy } = context.standing;
  const isNewSigner = signedBy !== undefined && signedBy === signedAnewBy;
  const mayAdd = before === undefined || (before === signedBy && !isNewSigner);
  const { sha256ByFilename } = known.checksums;
  const first = new Map([...context.first, ...sha256ByFilename]);
  return (
    findContradiction(address, first, offered) !== undefined ||
    (known.proof.source !== "registry" && tellsOthers(known, offered)) ||
    (!mayAdd && isWider(address, first, offered))
  );
}

/** An archive that was seen with another digest before. */
export interface Contradiction {
  readonly filename: string;
  readonly before: Sha256;
  readonly now: Sha256;
}

/** The first one, offered yet or not; `first` is by file name. */
export function findContradiction(
  address: ReleaseAddress,
  first: ReadonlyMap<string, Sha256>,
  { checksums }: Release,
): Contradiction | undefined {
  for (const [filename, now] of listSignedArchives(address, checksums)) {
    const before = first.get(filename);
    if (before !== undefined && before !== now)
      return { filename, before, now };
  }
  return undefined;
}

/** Platforms that are known stay known. */
function isWhole(known: Release, offered: Release): boolean {
  return [...known.packages.keys()].every((platform) =>
    offered.packages.has(platform),
  );
}

/** Also by archives that are not offered yet. */
function isWider(
  address: ReleaseAddress,
  first: ReadonlyMap<string, Sha256>,
  { checksums }: Release,
): boolean {
  return listSignedArchives(address, checksums).some(
    ([name]) => !first.has(name),
  );
}

export function isSameList(
  a: readonly string[],
  b: readonly string[],
): boolean {
  return a.length === b.length && a.every((text, index) => text === b[index]);
}
