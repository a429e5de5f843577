import {
  findArchivePlatform,
  formatArchiveName,
} from "../../address/archive-name.ts";
import {
  formatPlatform,
  parsePlatform,
  type Platform,
} from "../../address/platform.ts";
import {
  formatProviderAddress,
  type ProviderAddress,
} from "../../address/provider-address.ts";
import type { Sha256 } from "../../address/hash.ts";
import type { Version } from "../../address/version.ts";
import type { AgeDecision } from "../../trust/age.ts";
import type { KeyLabel } from "../../origin/registries/registry-answers.ts";
import type { ChecksumsSubject } from "../../verification/checksums-document.ts";
import type { SignatureProfile } from "../../verification/signatures.ts";
import type {
  Exemption,
  SignedChecksums,
  TrustedSha256,
} from "../../verification/signed-checksums.ts";

/** Provider at a version: the subject of one SHA256SUMS and its signature. */
export interface ReleaseAddress {
  readonly provider: ProviderAddress;
  readonly version: Version;
}

/** Everything needed to repeat the decision on a release years later. */
export interface ReleaseProof {
  readonly document: Uint8Array;
  readonly signature: Uint8Array | undefined;
  /** ASCII-armored, in the registry's order. */
  readonly keys: readonly string[];
  readonly profile: SignatureProfile;
  readonly exemption: Exemption | undefined;
  readonly verifiedAt: Date;
  /** Name and version of the library that did the arithmetic. */
  readonly library: string;
}

export interface ReleasePackage<Digest extends Sha256 = TrustedSha256> {
  readonly platform: Platform;
  /** The name under which it is served. */
  readonly filename: string;
  /** The name under which it is signed. */
  readonly signedName: string;
  readonly sha256: Digest;
}

/** A verified release that clients may have. */
export interface Release {
  readonly checksums: SignedChecksums;
  readonly proof: ReleaseProof;
  /** Packages by OS_ARCH that are both signed and offered by the registry. */
  readonly packages: ReadonlyMap<string, ReleasePackage>;
  /**
   * Archive URLs by OS_ARCH, as of the last answer of the origin; not recorded.
   */
  readonly places: ReadonlyMap<string, string>;
  /** One for each of the proof's keys, or none at all where they were not kept. */
  readonly keyLabels: readonly KeyLabel[];
  /** Too young only where the policy reports. */
  readonly age: AgeDecision;
}

/** `HOSTNAME/NAMESPACE/TYPE VERSION`, as errors and logs name a release. */
export function formatRelease(release: ReleaseAddress): string {
  return `${formatProviderAddress(release.provider)} ${release.version}`;
}

/** Returns what SHA256SUMS of a release is read for: its archives, and not what publishers put beside them. */
export function checksumsSubject(release: ReleaseAddress): ChecksumsSubject {
  return {
    release: formatRelease(release),
    isOwn: (name) =>
      findArchivePlatform(release.provider, release.version, name) !==
      undefined,
  };
}

/**
 * Binds the archives of this provider and version to OS_ARCH. Names of other
 * providers or versions are skipped. One key signs many, so the name is what
 * binds a digest to a package: the usual one where it is there, else the only
 * one. Of two unusual names with different digests neither says which is meant,
 * and the platform is left out.
 */
export function bindPackages<Digest extends Sha256>(
  { provider, version }: ReleaseAddress,
  digests: ReadonlyMap<string, Digest>,
): ReadonlyMap<string, ReleasePackage<Digest>> {
  const named = Map.groupBy(digests, ([filename]) => {
    const platform = findArchivePlatform(provider, version, filename);
    return platform && formatPlatform(platform);
  });
  const bound = new Map<string, ReleasePackage<Digest>>();
  for (const [name, [first, ...others]] of named) {
    if (name === undefined || first === undefined) continue;
    const platform = parsePlatform(name);
    const filename = formatArchiveName(provider, version, platform);
    const usual = digests.get(filename);
    const [signedName, sha256] =
      usual === undefined ? first : ([filename, usual] as const);
    if (usual !== undefined || others.every(([, other]) => other === sha256))
      bound.set(name, { platform, filename, signedName, sha256 });
  }
  return bound;
}
