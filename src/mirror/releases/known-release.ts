import { formatPlatform, type Platform } from "../../address/platform.ts";
import {
  isFailure,
  isOriginFailure,
  ProvenderError,
} from "../../errors/index.ts";
import type { OriginChecksums } from "../../origin/registries/provider-origin.ts";
import type { OriginPackage } from "../../origin/registries/registry-answers.ts";
import { addEvidence } from "../../trust/settle.ts";
import {
  isCandidate,
  isInAgreement,
  type Served,
} from "../../trust/standing.ts";
import type { Evidence, ReleaseTrust } from "../../trust/state.ts";
import { listFingerprints } from "../../verification/fingerprints.ts";
import {
  findTrustedDigest,
  verifyRegistryDigest,
} from "../../verification/signed-checksums.ts";
import { laterOf } from "../cache/clock.ts";
import {
  faultyEvidence,
  judgeEvidence,
  prepareProof,
  type ReleaseOrigin,
  type StoredEvidence,
} from "./evidence.ts";
import type { Release, ReleaseAddress, ReleasePackage } from "./release.ts";

/** A release as the origin offered it over time, not yet admitted. */
export interface KnownRelease {
  readonly trust: ReleaseTrust<StoredEvidence>;
  /** Key blocks of the origin's last answer, ASCII-armored. */
  readonly keys: readonly string[];
  /**
   * Platforms as OS_ARCH that the origin ever offered; undefined when it lists
   * none.
   */
  readonly offered: ReadonlySet<string> | undefined;
  /** URLs of archives by OS_ARCH, of the last answer; not recorded. */
  readonly places: ReadonlyMap<string, string>;
  /** Of the record that it was made from; 0 for none. */
  readonly revision: number;
}

/** A release of which nothing is known yet. */
export const unknownRelease: KnownRelease = {
  trust: { pinned: undefined, evidence: [], published: new Set() },
  keys: [],
  offered: undefined,
  places: new Map(),
  revision: 0,
};

/** Evidence that bounds do not drop: it counts for the release, or an operator decided on its content. */
export function isKept({
  pinned,
}: Pick<ReleaseTrust, "pinned">): (evidence: Evidence) => boolean {
  return (one) =>
    one.noted === "approved" ||
    one.noted === "revoked-content" ||
    (pinned !== undefined && isInAgreement(pinned, one));
}

/** The release as clients see it; its digests come from verified checksums alone. */
export function viewOf(
  { offered, places }: KnownRelease,
  { evidence, packages, age }: Served<StoredEvidence>,
): Release | undefined {
  const { checksums, proof, keyLabels } = evidence;
  if (checksums === undefined) return undefined;
  const bound = new Map<string, ReleasePackage>();
  for (const [name, { evidence: own }] of packages) {
    const found = own.packages.get(name);
    if (found !== undefined && (offered?.has(name) ?? true))
      bound.set(name, found);
  }
  return { checksums, proof, packages: bound, places, keyLabels, age };
}

/**
 * Reasons that revoke a signature. An unreadable block, or one with other keys,
 * does not.
 */
const takesAway: ReadonlySet<string> = new Set([
  "revoked",
  "key-expired",
  "signature-expired",
]);

/** True when asking for the checksums again could teach nothing new. */
export function isConfirmed(
  { trust, keys, offered }: KnownRelease,
  found: OriginPackage,
  platforms: readonly Platform[] | undefined,
): boolean {
  const newest = trust.evidence.at(-1);
  if (newest === undefined || !isSameList(found.signingKeys, keys))
    return false;
  const names = (platforms ?? []).map(formatPlatform);
  const { checksums, noted } = newest;
  return (
    checksums !== undefined &&
    !isCandidate(noted) &&
    checksums.sha256ByFilename.get(found.filename) === found.shasum &&
    names.every((name) => offered?.has(name) ?? true)
  );
}

/** Verifies SHA256SUMS by its signature, and compares the digest that the registry names. */
export async function verifyOffer(
  { policy, judge, clock }: ReleaseOrigin,
  address: ReleaseAddress,
  found: OriginPackage,
  fetched: OriginChecksums,
): Promise<StoredEvidence> {
  const { filename, shasum, keyLabels, signingKeys: keys } = found;
  const claim = { ...fetched, keys };
  const { library } = judge;
  const proof = prepareProof(address, claim, policy, library, clock.now());
  const evidence = await judgeEvidence(address, proof, keyLabels, judge);
  const trusted = findTrustedDigest(evidence.checksums, filename);
  verifyRegistryDigest(filename, trusted, shasum);
  return evidence;
}

/** The refusal of an offer; throws a failure that says nothing of it. */
export function asRefusal(error: unknown): ProvenderError {
  const isRefusal =
    error instanceof ProvenderError &&
    !isOriginFailure(error) &&
    !isFailure(error, "signature-undecided");
  if (!isRefusal) throw error;
  return error;
}

/** Adds a verified offer to what is known. Nothing is admitted thereby. */
export function takeOffer(
  known: KnownRelease | undefined,
  evidence: StoredEvidence,
  found: OriginPackage,
  platforms: readonly Platform[] | undefined,
): KnownRelease {
  const { trust: before, revision } = known ?? unknownRelease;
  const { signingKeys: keys } = found;
  const signers = evidence.signedBy === undefined ? [] : [evidence.signedBy];
  const named = [...listFingerprints(keys), ...signers];
  // An unreadable answer keeps the keys known before.
  const isReadable = named.length > 0 || keys.length === 0;
  const published = isReadable ? new Set(named) : before.published;
  const isServed = isInAgreement(before.pinned, evidence);
  // Platforms that were offered once stay.
  const offered = known === undefined ? [] : known.offered;
  return {
    trust: { ...addEvidence(before, evidence, isKept(before)), published },
    keys,
    offered:
      platforms &&
      offered &&
      new Set([...offered, ...platforms.map(formatPlatform)]),
    // The places of other content are not those of the pinned one.
    places: isServed ? placesOf(found, evidence) : new Map(),
    revision,
  };
}

/** Adds what we know to what another one wrote first; what both know stays as that judged it. */
export function joinReleases(
  other: KnownRelease,
  ours: KnownRelease,
): KnownRelease {
  const written = new Set(other.trust.evidence.map(({ id }) => id));
  const trust = ours.trust.evidence
    .filter(({ id }) => !written.has(id))
    .reduce((all, one) => addEvidence(all, one, isKept(all)), other.trust);
  const offered =
    other.offered &&
    ours.offered &&
    new Set([...other.offered, ...ours.offered]);
  return { ...other, trust, offered };
}

/** Copies from an answer the facts beside the checksums. */
export function refreshKnown(
  known: KnownRelease,
  found: OriginPackage,
): KnownRelease {
  const newest = known.trust.evidence.at(-1);
  if (newest === undefined || !isInAgreement(known.trust.pinned, newest))
    return known;
  return { ...known, places: placesOf(found, newest) };
}

/**
 * Verifies evidence again with the keys that the registry publishes now, and
 * with the profile of today. Keys that decide replace those that decided
 * before. So a revocation lasts until a registry publishes the key as good
 * again. A wall clock that was set back revokes nothing.
 */
export async function rejudge(
  known: KnownRelease,
  address: ReleaseAddress,
  { signingKeys: keys, keyLabels }: OriginPackage,
  { judge, clock, policy: { profile } }: ReleaseOrigin,
): Promise<KnownRelease> {
  if (keys.length === 0 || isSameList(keys, known.keys)) return known;
  const now = clock.now();
  const judged = known.trust.evidence.map(async (one) => {
    if (one.proof.exemption !== undefined) return one;
    const verifiedAt = laterOf(one.proof.verifiedAt, now);
    const proof = { ...one.proof, keys, profile, verifiedAt };
    try {
      return await judgeEvidence(address, proof, keyLabels, judge, one.noted);
    } catch (fault) {
      if (!isFailure(fault, "signature-refused")) throw fault;
      return takesAway.has(fault.reason)
        ? faultyEvidence(address, proof, one, fault)
        : one;
    }
  });
  const evidence = await Promise.all(judged);
  return { ...known, keys, trust: { ...known.trust, evidence } };
}

function isSameList(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((text, index) => text === b[index]);
}

function placesOf(
  { places }: OriginPackage,
  { content }: StoredEvidence,
): KnownRelease["places"] {
  const found = new Map<string, string>();
  for (const [name, sha256] of content) {
    const url = places.get(sha256);
    if (url !== undefined) found.set(name, url.href);
  }
  return found;
}
