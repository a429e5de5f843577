import type { Sha256 } from "../../address/hash.ts";
import { parsePlatform } from "../../address/platform.ts";
import {
  ArchiveNotSigned,
  BundleIncomplete,
  BundleRefused,
  ChecksumConflict,
} from "../../errors/index.ts";
import { formatArchiveName } from "../../address/archive-name.ts";
import type { BlobStore } from "../../store/blobs/blob-store.ts";
import type { KeyVerdict } from "../../verification/trust-policy.ts";
import { decideReleaseKey } from "../trust/admission-rules.ts";
import type { Admission } from "../trust/admission.ts";
import type { ReleaseRequest } from "../trust/request.ts";
import type { BundleFile } from "./bundle-file.ts";
import type { BundledRelease } from "./manifest.ts";
import { parseProof } from "./proof.ts";
import type { ProviderCatalog } from "../providers/provider-catalog.ts";
import type { ReleaseRecords } from "../releases/records.ts";
import {
  judgeProof,
  prepareProof,
  type ReleaseEvidence,
} from "../releases/verdict.ts";
import {
  bindPackages,
  formatRelease,
  type Release,
  type ReleaseAddress,
  type ReleasePackage,
} from "../releases/release.ts";
import { limitVersions, type VersionList } from "../releases/version-list.ts";

export interface JudgingParts {
  readonly catalog: ProviderCatalog;
  readonly admission: Admission;
  readonly releases: ReleaseRecords;
  readonly blobs: BlobStore;
}

/** What is stored of a release, as it was judged when its record had this stamp. */
export interface StoredRelease {
  readonly known: Release | undefined;
  readonly stamp: string | undefined;
}

/** A release that the local configuration, policy and trust accept as it is in the bundle. */
export interface JudgedRelease {
  readonly request: ReleaseRequest;
  readonly release: Release;
  /** What was stored of it before. */
  readonly stored: StoredRelease;
  /** What to import of it; each is carried or stored. */
  readonly packages: readonly ReleasePackage[];
  readonly list: VersionList | undefined;
  readonly because: (KeyVerdict & { readonly accepted: true })["because"];
}

/**
 * Decides on one release as if an origin had offered it now: signature, digests,
 * names, rules, key and age, all by local terms. Changes nothing, but that a release
 * is remembered which is held back because of its key. Throws the
 * same errors as the daemon would answer with, and BundleIncomplete.
 */
export async function judgeRelease(
  parts: JudgingParts,
  bundle: BundleFile,
  entry: BundledRelease,
): Promise<JudgedRelease> {
  const { catalog, admission } = parts;
  const { address } = entry;
  const { rules } = admission;
  const origin = catalog.originOf(address.provider);
  const request = await admission.openVersion(address, { origin, rules });
  const stored = await judgeStored(parts.releases, address, undefined);
  const release = await believe(request, bundle, entry, stored);
  const packages = [...entry.archives].map(([name, sha256]) =>
    findSigned(address, release, name, sha256),
  );
  await expectAtHand(parts, bundle, packages);
  const list = await catalog.peekVersions(address.provider);
  const because = await decideKey(admission, request, release, list);
  admitBundledAge(admission, request, release, list);
  return { request, release, stored, packages, list, because };
}

/** Judges what is stored; not again while its record stays as it was. */
export async function judgeStored(
  releases: ReleaseRecords,
  address: ReleaseAddress,
  before: StoredRelease | undefined,
): Promise<StoredRelease> {
  // First, so that what is written meanwhile is looked at next time.
  const stamp = await releases.stamp(address);
  if (before !== undefined && before.stamp === stamp) return before;
  return { known: (await releases.read(address))?.value, stamp };
}

/** From the carried proof; what was left out has to be known. */
async function believe(
  { origin }: ReleaseRequest,
  bundle: BundleFile,
  { address, proof, platforms }: BundledRelease,
  { known }: StoredRelease,
): Promise<Release> {
  if (!bundle.carries(proof)) {
    if (known === undefined) throw new BundleIncomplete(formatRelease(address));
    return known;
  }
  const { policy, judge, clock } = origin;
  const evidence = readEvidence(address, await bundle.readProof(proof));
  const now = clock.now();
  const prepared = prepareProof(address, evidence, policy, judge.library, now);
  const checksums = await judgeProof(address, prepared, judge);
  // What is known here stays offered, so that a smaller export takes nothing away.
  const offered = [
    ...platforms,
    ...[...(known?.packages.keys() ?? [])].map(parsePlatform),
  ];
  const packages = bindPackages(address, checksums, offered);
  return {
    checksums,
    proof: prepared,
    firstSeen: now,
    packages,
    reported: new Map(),
    places: new Map(),
    keyLabels: [],
  };
}

function readEvidence(
  address: ReleaseAddress,
  bytes: Uint8Array,
): ReleaseEvidence {
  try {
    return parseProof(bytes);
  } catch (cause) {
    const name = `The proof of ${formatRelease(address)}`;
    throw new BundleRefused(name, "it is not in a form that is known", {
      cause,
    });
  }
}

/** The manifest only says which packages were meant; what they are called and hold is what was signed. */
function findSigned(
  address: ReleaseAddress,
  release: Release,
  name: string,
  claimed: Sha256,
): ReleasePackage {
  const found = release.packages.get(name);
  if (found === undefined) {
    const platform = parsePlatform(name);
    const { provider, version } = address;
    throw new ArchiveNotSigned(
      formatRelease(address),
      formatArchiveName(provider, version, platform),
    );
  }
  const { filename, sha256 } = found;
  if (sha256 !== claimed)
    throw new ChecksumConflict(filename, sha256, claimed, "the bundle");
  return found;
}

async function expectAtHand(
  { blobs }: JudgingParts,
  bundle: BundleFile,
  packages: readonly ReleasePackage[],
): Promise<void> {
  for (const { filename, sha256 } of packages)
    if (!bundle.carries(sha256) && (await blobs.size(sha256)) === undefined)
      throw new BundleIncomplete(filename);
}

/** The bundle stands for the list that its sender had, so the signature dates what the list here does not have. Throws TooYoung. */
export function admitBundledAge(
  admission: Admission,
  request: ReleaseRequest,
  release: Release,
  list: VersionList | undefined,
): void {
  const present = new Set([request.address.version]);
  admission.admitAge(request, release, limitVersions(list, present));
}

async function decideKey(
  admission: Admission,
  request: ReleaseRequest,
  release: Release,
  list: VersionList | undefined,
): Promise<JudgedRelease["because"]> {
  const { rules, address, entry } = request;
  const verdict = decideReleaseKey(rules, address, release, list, entry.trust);
  if (verdict.accepted) return verdict.because;
  return admission.refuseKey(request, release, verdict.because);
}
