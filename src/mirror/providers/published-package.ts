import { formatPlatform, type Platform } from "../../address/platform.ts";
import { failure } from "../../errors/index.ts";
import {
  unlabelled,
  type KeyLabel,
} from "../../origin/registries/registry-answers.ts";
import type { MirroredPackage } from "./package-description.ts";
import type { AdmittedRelease, ProviderMirror } from "./provider-mirror.ts";
import {
  formatRelease,
  packageOf,
  type Release,
  type ReleaseAddress,
  type ReleasePackage,
} from "../releases/release.ts";

/** A signing key as its registry published it. */
export interface PublishedKey extends KeyLabel {
  /** ASCII armor. */
  readonly armor: string;
}

export interface SizedPackage extends MirroredPackage {
  /** Bytes. */
  readonly size: number;
}

/** A package with what a client needs to judge it for itself. */
export interface PublishedPackage {
  readonly found: ReleasePackage;
  /** Protocols as the origin lists them; empty when unknown. */
  readonly protocols: readonly string[];
  readonly keys: readonly PublishedKey[];
  /**
   * Packages of all platforms that are stored. Empty without the package's
   * own size, because clients measure the archive by it.
   */
  readonly packages: readonly SizedPackage[];
}

/** Signed document and signature, byte for byte as the origin sent them. */
interface PublishedProof {
  readonly document: Uint8Array;
  /** Empty for an unsigned release. */
  readonly signature: Uint8Array;
}

/** The registry of which clients take packages without signing keys (OpenTofu, "ShouldEnforceGPGValidationForProvider"). */
const unsignedRegistry = "registry.opentofu.org";

export async function describePublished(
  mirror: ProviderMirror,
  admitted: AdmittedRelease,
  platform: Platform,
): Promise<PublishedPackage> {
  const { release, list } = admitted;
  const { address } = admitted.request;
  const found = packageOf(address, release, platform);
  expectVerifiable(address, release);
  const packages = await listSized(mirror, admitted);
  const isMeasured = packages.some(
    ({ filename }) => filename === found.filename,
  );
  return {
    found,
    protocols: list?.versions.get(address.version)?.protocols ?? [],
    keys: listKeys(release),
    packages: isMeasured ? packages : [],
  };
}

export function publishedProof({
  request,
  release,
}: AdmittedRelease): PublishedProof {
  expectVerifiable(request.address, release);
  const { document, signature = new Uint8Array() } = release.proof;
  return { document, signature };
}

function expectVerifiable(
  address: ReleaseAddress,
  { proof: { keys, signature } }: Release,
): void {
  const name = formatRelease(address);
  if (keys.length === 0 && address.provider.hostname !== unsignedRegistry)
    throw failure("nothing-to-verify", name, "signing key");
  if (keys.length > 0 && signature === undefined)
    throw failure("nothing-to-verify", name, "signature");
}

async function listSized(
  mirror: ProviderMirror,
  admitted: AdmittedRelease,
): Promise<readonly SizedPackage[]> {
  const { release } = admitted;
  const described = await mirror.describePackages(admitted);
  const sized = await Promise.all(
    described.map(async (one): Promise<readonly SizedPackage[]> => {
      const name = formatPlatform(one.platform);
      const found = release.packages.get(name);
      const size = found && (await mirror.findSize(found));
      return size === undefined ? [] : [{ ...one, size }];
    }),
  );
  return sized.flat();
}

function listKeys({
  proof: { keys },
  checksums: { signedBy },
  keyLabels,
}: Release): readonly PublishedKey[] {
  const only = keys.length === 1 && signedBy ? keyId(signedBy) : undefined;
  return keys.map((armor, index) => {
    const label = keyLabels[index] ?? { ...unlabelled, id: only };
    return { ...label, armor };
  });
}

/** The low 64 bits of a version 4 fingerprint, the high ones of a version 6 fingerprint (RFC 9580, 5.5.4). */
function keyId(fingerprint: string): string {
  return fingerprint.length === 40
    ? fingerprint.slice(-16)
    : fingerprint.slice(0, 16);
}
