import { formatPlatform, type Platform } from "../address/platform.ts";
import { isAbsence, NotFound } from "../errors.ts";
import type { OriginArchive } from "../origin/http-client.ts";
import type { ProviderRegistry } from "../origin/provider-registry.ts";
import type { OriginPackage } from "../origin/registry-answers.ts";
import { verifyRegistryDigest } from "../verification/signed-checksums.ts";
import type { Clock } from "./clock.ts";
import {
  judgeProof,
  prepareProof,
  type SignatureJudge,
  type SignaturePolicy,
} from "./release-verdict.ts";
import {
  bindPackages,
  formatRelease,
  type Release,
  type ReleaseAddress,
  type ReleasePackage,
} from "./release.ts";

/** One origin registry and how its releases are judged. */
export interface ReleaseOrigin {
  readonly registry: ProviderRegistry;
  readonly policy: SignaturePolicy;
  readonly judge: SignatureJudge;
  readonly clock: Clock;
}

/** Asked in this order when the registry does not say which platforms it has. */
const commonPlatforms: readonly Platform[] = [
  { os: "linux", arch: "amd64" },
  { os: "darwin", arch: "arm64" },
  { os: "windows", arch: "amd64" },
  { os: "linux", arch: "arm64" },
];

/**
 * One package lookup and the signed checksums give the digests of all platforms.
 * When the lookup says what is known already, the known release stands.
 */
export async function fetchRelease(
  origin: ReleaseOrigin,
  address: ReleaseAddress,
  offered: readonly Platform[] | undefined,
  known: Release | undefined,
  signal: AbortSignal,
): Promise<Release> {
  const found = await findAnyPackage(origin, address, offered, signal);
  if (known !== undefined && confirms(found, offered, known, origin.policy))
    return { ...known, reported: found.reported };
  const fetched = await origin.registry.fetchChecksums(found, signal);
  const evidence = { ...fetched, keys: found.signingKeys };
  const now = origin.clock.now();
  const { policy, judge } = origin;
  const proof = prepareProof(address, evidence, policy, judge.library, now);
  const checksums = await judgeProof(address, proof, judge);
  const packages = bindPackages(address, checksums, offered);
  verifyAgainst(found, packages);
  const firstSeen = known?.firstSeen ?? now;
  return { checksums, proof, firstSeen, packages, reported: found.reported };
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
  verifyRegistryDigest(filename, sha256, found.shasum);
  return registry.openArchive(found, signal);
}

async function findAnyPackage(
  { registry }: ReleaseOrigin,
  address: ReleaseAddress,
  offered: readonly Platform[] | undefined,
  signal: AbortSignal,
): Promise<OriginPackage> {
  const { provider, version } = address;
  const candidates = preferCommon(offered ?? commonPlatforms);
  for (const platform of candidates.slice(0, commonPlatforms.length))
    try {
      return await registry.findPackage(provider, version, platform, signal);
    } catch (error) {
      if (!isAbsence(error)) throw error;
    }
  throw new NotFound(formatRelease(address));
}

function preferCommon(offered: readonly Platform[]): readonly Platform[] {
  const rank = new Map(
    commonPlatforms.map((platform, index) => [formatPlatform(platform), index]),
  );
  const rankOf = (platform: Platform) =>
    rank.get(formatPlatform(platform)) ?? commonPlatforms.length;
  return offered.toSorted((a, b) => rankOf(a) - rankOf(b));
}

/** True when asking for the checksums again could teach nothing new. */
function confirms(
  found: OriginPackage,
  offered: readonly Platform[] | undefined,
  known: Release,
  policy: SignaturePolicy,
): boolean {
  const sameKeys =
    found.signingKeys.length === known.proof.keys.length &&
    found.signingKeys.every((key, index) => key === known.proof.keys[index]);
  const sameDigest = [...known.packages.values()].some(
    ({ filename, sha256 }) =>
      filename === found.filename && sha256 === found.shasum,
  );
  const samePlatforms = (offered ?? []).every((platform) =>
    known.packages.has(formatPlatform(platform)),
  );
  const sameTerms = known.proof.profile === policy.profile;
  return sameKeys && sameDigest && samePlatforms && sameTerms;
}

function verifyAgainst(
  found: OriginPackage,
  packages: Release["packages"],
): void {
  const signed = [...packages.values()].find(
    ({ filename }) => filename === found.filename,
  );
  if (signed !== undefined)
    verifyRegistryDigest(found.filename, signed.sha256, found.shasum);
}
