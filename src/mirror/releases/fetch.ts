import { formatPlatform, type Platform } from "../../address/platform.ts";
import { isOriginFailure, ProvenderError } from "../../errors/index.ts";
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
  readonly policy: SignaturePolicy;
  readonly judge: SignatureJudge;
  readonly clock: Clock;
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
  const release = { ...known, reported, keyLabels };
  return { release, change: { kind: "none" } };
}

/** When an origin offers something else than what is known, the first release that was seen goes on. */
export async function continueRelease(
  { judge, clock }: ReleaseOrigin,
  address: ReleaseAddress,
  known: Release,
  offer: Offer,
  found: OriginPackage,
  standing: Standing,
): Promise<Continuity> {
  const context = { judge, now: clock.now(), standing };
  const { signingKeys, reported } = found;
  const continuity = await reconcile(
    address,
    known,
    offer,
    signingKeys,
    context,
  );
  // What is said of a content that is not served is no news of the one that is.
  if (continuity.change.kind === "replaced") return continuity;
  const { release } = continuity;
  const continued = continueReports(known, release, reported);
  return { ...continuity, release: { ...release, reported: continued } };
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
  return { checksums, proof, firstSeen, packages, reported, keyLabels };
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

/** Where the archive is now; its `shasum` must be what was signed. */
export async function openPackage(
  origin: ReleaseOrigin,
  { provider, version }: ReleaseAddress,
  { platform, filename, sha256 }: ReleasePackage,
  signal: AbortSignal,
): Promise<OriginArchive> {
  const { registry } = origin;
  const found = await registry.findPackage(provider, version, platform, signal);
  if (found.shasum !== undefined)
    verifyRegistryDigest(filename, sha256, found.shasum);
  return registry.openArchive(found, signal, provider);
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
