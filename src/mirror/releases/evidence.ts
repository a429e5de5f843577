import { hash } from "node:crypto";
import type { Sha256 } from "../../address/hash.ts";
import { formatPlatform, type Platform } from "../../address/platform.ts";
import {
  failure,
  isFailure,
  isOriginFailure,
  ProvenderError,
} from "../../errors/index.ts";
import type {
  OriginChecksums,
  ProviderOrigin,
} from "../../origin/registries/provider-origin.ts";
import { mostPlatforms } from "../../origin/registries/answer-shape.ts";
import type {
  KeyLabel,
  OriginPackage,
} from "../../origin/registries/registry-answers.ts";
import type { Content } from "../../trust/content.ts";
import { addEvidence } from "../../trust/settle.ts";
import {
  isCandidate,
  isInAgreement,
  type Served,
} from "../../trust/standing.ts";
import type { Evidence, ReleaseTrust } from "../../trust/state.ts";
import { parseChecksumsDocument } from "../../verification/checksums-document.ts";
import { listFingerprints } from "../../verification/fingerprints.ts";
import type {
  SignatureDecision,
  SignatureProfile,
  SignatureQuestion,
} from "../../verification/signatures.ts";
import {
  acceptUnsignedChecksums,
  findTrustedDigest,
  verifyRegistryDigest,
  verifySignedChecksums,
  type Exemption,
  type SignedChecksums,
} from "../../verification/signed-checksums.ts";
import { laterOf, type Clock } from "../cache/clock.ts";
import {
  bindPackages,
  checksumsSubject,
  formatRelease,
  type Release,
  type ReleaseAddress,
  type ReleasePackage,
  type ReleaseProof,
} from "./release.ts";

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

export interface ReleaseOrigin {
  readonly registry: ProviderOrigin;
  /** Milliseconds for which a list is fresh, if not the default. */
  readonly freshFor?: number | undefined;
  readonly policy: SignaturePolicy;
  readonly judge: SignatureJudge;
  readonly clock: Clock;
}

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
  readonly fault: ProvenderError | undefined;
}

/** Names the content of a SHA256SUMS, as operators see it. */
export function digestOf(document: Uint8Array): string {
  return hash("sha256", document);
}

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

/** The release as clients see it; its digests come from verified checksums alone. `listed` is what its origin offers now. */
export function viewOf(
  { offered, places }: KnownRelease,
  { evidence, packages, age }: Served<StoredEvidence>,
  listed: readonly Platform[] | undefined,
): Release | undefined {
  const { checksums, proof, keyLabels } = evidence;
  if (checksums === undefined) return undefined;
  const bound = new Map<string, ReleasePackage>();
  for (const [name, { evidence: own }] of packages) {
    const found = own.packages.get(name);
    const isOffered =
      offered === undefined ||
      offered.has(name) ||
      listed?.some((one) => formatPlatform(one) === name);
    if (found !== undefined && isOffered === true) bound.set(name, found);
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

/**
 * Adds what we know to what another one wrote first; what both know stays as that judged it. What it judged by other
 * keys than ours is judged again at the next look-up.
 */
export function joinReleases(
  other: KnownRelease,
  ours: KnownRelease,
): KnownRelease {
  const written = new Set(other.trust.evidence.map(({ id }) => id));
  const added = ours.trust.evidence.filter(({ id }) => !written.has(id));
  const trust = added.reduce(
    (all, one) => addEvidence(all, one, isKept(all)),
    other.trust,
  );
  const isJudged = added.length === 0 || isSameList(other.keys, ours.keys);
  const offered =
    other.offered &&
    ours.offered &&
    new Set([...other.offered, ...ours.offered]);
  return { ...other, keys: isJudged ? other.keys : [], trust, offered };
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
  origin: ReleaseOrigin,
): Promise<KnownRelease> {
  if (keys.length === 0 || isSameList(keys, known.keys)) return known;
  const judged = known.trust.evidence.map((one) =>
    judgeAgain(one, address, keys, keyLabels, origin),
  );
  const evidence = await Promise.all(judged);
  return { ...known, keys, trust: { ...known.trust, evidence } };
}

/** Judges evidence by keys of its registry; the same where they do not decide on it. */
export async function judgeAgain(
  one: StoredEvidence,
  address: ReleaseAddress,
  keys: readonly string[],
  keyLabels: readonly KeyLabel[],
  { judge, clock, policy: { profile } }: ReleaseOrigin,
): Promise<StoredEvidence> {
  if (one.proof.exemption !== undefined) return one;
  const verifiedAt = laterOf(one.proof.verifiedAt, clock.now());
  const proof = { ...one.proof, keys, profile, verifiedAt };
  try {
    return await judgeEvidence(address, proof, keyLabels, judge, one.noted);
  } catch (fault) {
    if (!isFailure(fault, "signature-refused")) throw fault;
    return takesAway.has(fault.reason)
      ? faultyEvidence(address, proof, one, fault)
      : one;
  }
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
