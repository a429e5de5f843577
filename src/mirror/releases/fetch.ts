import type { PackageHash, Sha256 } from "../../address/hash.ts";
import { formatPlatform, type Platform } from "../../address/platform.ts";
import {
  isOriginFailure,
  OriginAddressRefused,
  OriginAnswerUnusable,
  OriginRejectsCredentials,
  OriginStatus,
  OriginUnreachable,
  ProvenderError,
} from "../../errors/index.ts";
import type { OriginArchive } from "../../origin/http/http-client.ts";
import type {
  OriginChecksums,
  ProviderOrigin,
} from "../../origin/registries/provider-origin.ts";
import type { OriginPackage } from "../../origin/registries/registry-answers.ts";
import {
  findTrustedDigest,
  verifyRegistryDigest,
} from "../../verification/signed-checksums.ts";
import type { Clock } from "../cache/clock.ts";
import {
  isSameList,
  reconcile,
  type Continuity,
  type Offer,
  type Standing,
} from "./continuity.ts";
import {
  judgeProof,
  prepareProof,
  type SignatureJudge,
  type SignaturePolicy,
} from "./verdict.ts";
import {
  bindPackages,
  type Release,
  type ReleaseAddress,
  type ReleasePackage,
} from "./release.ts";
import { continueReports } from "./reported-hashes.ts";

/** One origin and how its releases are judged. */
export interface ReleaseOrigin {
  /** Whether clients are told what it reports beside its checksums, which nobody signs. */
  readonly reportedHashes: "publish" | "withhold";
  readonly registry: ProviderOrigin;
  /** Milliseconds for which a list is good, if not as long as others are. */
  readonly freshFor?: number | undefined;
  readonly policy: SignaturePolicy;
  readonly judge: SignatureJudge;
  readonly clock: Clock;
  /** Learns the digest of an archive that it names by these h1 alone; undefined where it names all of them by digest. */
  readonly learn?:
    | ((
        address: ReleaseAddress,
        platform: Platform,
        packageHashes: readonly PackageHash[],
      ) => Promise<void>)
    | undefined;
}

/**
 * What asking for a known release brought, when it only says what is known
 * already; undefined when there is something to look at.
 */
export function confirmRelease(
  known: Release,
  found: OriginPackage,
  offered: readonly Platform[] | undefined,
  { policy }: ReleaseOrigin,
): Continuity | undefined {
  if (!confirms(found, offered, known, policy)) return undefined;
  const { keyLabels } = found;
  const reported = continueReports(known, known, found.reported);
  const places = placesOf(found, known.packages);
  const release = { ...known, reported, keyLabels, places };
  return { release, change: { kind: "none" } };
}

/** When an origin offers something else than what is known, the first release that was seen goes on. */
export async function continueRelease(
  { judge, clock }: ReleaseOrigin,
  address: ReleaseAddress,
  known: Release,
  offer: Offer,
  found: OriginPackage,
  before: {
    readonly standing: Standing;
    /** By file name. */
    readonly first: ReadonlyMap<string, Sha256>;
  },
): Promise<Continuity> {
  const context = { ...before, judge, now: clock.now() };
  const { signingKeys, reported } = found;
  const continuity = await reconcile(
    address,
    known,
    offer,
    signingKeys,
    context,
  );
  const { release } = continuity;
  // The origin now speaks of content that is not served: its reports are not about the first one, nor are its places.
  if (continuity.change.kind === "replaced")
    return { ...continuity, release: { ...release, places: new Map() } };
  const continued = continueReports(known, release, reported);
  const places = placesOf(found, release.packages);
  return {
    ...continuity,
    release: { ...release, reported: continued, places },
  };
}

/**
 * What an origin offers now: its SHA256SUMS, verified by their signature,
 * with the archive's line held against the digest that the registry names.
 */
export async function believeOffer(
  { policy, judge, clock }: ReleaseOrigin,
  address: ReleaseAddress,
  found: OriginPackage,
  fetched: OriginChecksums,
  offered: readonly Platform[] | undefined,
): Promise<Release> {
  const evidence = { ...fetched, keys: found.signingKeys };
  const firstSeen = clock.now();
  const { library } = judge;
  const proof = prepareProof(address, evidence, policy, library, firstSeen);
  const checksums = await judgeProof(address, proof, judge);
  const packages = bindPackages(address, checksums, offered);
  const { filename, shasum } = found;
  if (shasum !== undefined) {
    const trusted = findTrustedDigest(checksums, filename);
    verifyRegistryDigest(filename, trusted, shasum);
  }
  const { reported, keyLabels } = found;
  const places = placesOf(found, packages);
  return { checksums, proof, firstSeen, packages, reported, places, keyLabels };
}

/** A refusal says something about the offer; a failing origin says nothing. */
export async function asOffer(believed: Promise<Release>): Promise<Offer> {
  try {
    return { release: await believed };
  } catch (error) {
    if (isOriginFailure(error) || !(error instanceof ProvenderError))
      throw error;
    return { refused: error };
  }
}

function placesOf(
  { places }: OriginPackage,
  packages: Release["packages"],
): Release["places"] {
  const told = [...packages].flatMap(([name, { sha256 }]) => {
    const url = places.get(sha256);
    return url === undefined ? [] : [[name, url.href] as const];
  });
  return new Map(told);
}

/**
 * From where it was said to be when the release was asked for; where there is
 * nothing good any more, from where the origin says it is now, whose `shasum`
 * must be what was signed.
 */
export async function openPackage(
  { registry }: ReleaseOrigin,
  { provider, version }: ReleaseAddress,
  { platform, filename, sha256 }: ReleasePackage,
  place: string | undefined,
  signal: AbortSignal,
): Promise<OriginArchive> {
  const open = (url: URL) =>
    registry.openArchive({ downloadUrl: url }, signal, provider);
  let failure: unknown;
  try {
    if (place !== undefined) return await open(new URL(place));
  } catch (error) {
    if (!mayHaveMoved(error)) throw error;
    failure = error;
  }
  const found = await registry.findPackage(provider, version, platform, signal);
  if (found.shasum !== undefined)
    verifyRegistryDigest(filename, sha256, found.shasum);
  if (found.downloadUrl.href === place) throw failure;
  return open(found.downloadUrl);
}

/** Signed URLs expire, and hosts answer for that with a status or a page; hosts leave, too, or were named wrongly. */
function mayHaveMoved(error: unknown): boolean {
  return (
    error instanceof OriginStatus ||
    error instanceof OriginUnreachable ||
    error instanceof OriginAddressRefused ||
    error instanceof OriginRejectsCredentials ||
    error instanceof OriginAnswerUnusable
  );
}

/** True when asking for the checksums again could teach nothing new. */
function confirms(
  found: OriginPackage,
  offered: readonly Platform[] | undefined,
  known: Release,
  policy: SignaturePolicy,
): boolean {
  const sameKeys = isSameList(found.signingKeys, known.proof.keys);
  const sameDigest = [...known.packages.values()].some(
    ({ filename, sha256 }) =>
      filename === found.filename && sha256 === found.shasum,
  );
  const samePlatforms = (offered ?? []).every((platform) =>
    known.packages.has(formatPlatform(platform)),
  );
  const { checksums } = found;
  const sameReport =
    checksums.kind === "published" ||
    Buffer.compare(checksums.document, known.proof.document) === 0;
  const sameTerms = known.proof.profile === policy.profile;
  return sameKeys && sameDigest && samePlatforms && sameReport && sameTerms;
}
