import { formatPlatform, type Platform } from "../../address/platform.ts";
import { isOriginFailure, ProvenderError } from "../../errors/index.ts";
import type { OriginArchive } from "../../origin/http/http-client.ts";
import type { ProviderOrigin } from "../../origin/registries/provider-origin.ts";
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
 * One package lookup and the signed checksums give the digests of all platforms.
 * When the lookup says what is known already, nothing more is asked; when it
 * says something else, the first release that was seen goes on.
 */
export async function fetchRelease(
  origin: ReleaseOrigin,
  address: ReleaseAddress,
  offered: readonly Platform[] | undefined,
  known: Release | undefined,
  standing: Standing,
  signal: AbortSignal,
): Promise<Continuity> {
  const { provider, version } = address;
  const found = await origin.registry.findAnyPackage(
    provider,
    version,
    offered,
    signal,
  );
  const { reported, keyLabels } = found;
  if (known !== undefined && confirms(found, offered, known, origin.policy))
    return {
      release: {
        ...known,
        reported: continueReports(known, known, reported),
        keyLabels,
      },
      change: { kind: "none" },
    };
  const believe = () => believeOffer(origin, address, found, offered, signal);
  if (known === undefined)
    return { release: await believe(), change: { kind: "none" } };
  const context = {
    judge: origin.judge,
    now: origin.clock.now(),
    standing,
  };
  const offer = await asOffer(believe);
  const continuity = await reconcile(
    address,
    known,
    offer,
    found.signingKeys,
    context,
  );
  // What is said of a content that is not served is no news of the one that is.
  if (continuity.change.kind === "replaced") return continuity;
  const { release } = continuity;
  const continued = continueReports(known, release, reported);
  return { ...continuity, release: { ...release, reported: continued } };
}

/**
 * What the origin offers now: its SHA256SUMS, verified by their signature,
 * with the archive's line held against the digest that the registry names.
 */
async function believeOffer(
  { registry, policy, judge, clock }: ReleaseOrigin,
  address: ReleaseAddress,
  found: OriginPackage,
  offered: readonly Platform[] | undefined,
  signal: AbortSignal,
): Promise<Release> {
  const fetched = await registry.fetchChecksums(
    found,
    signal,
    address.provider,
  );
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
async function asOffer(believe: () => Promise<Release>): Promise<Offer> {
  try {
    return { release: await believe() };
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
