import type { Sha256 } from "../../address/hash.ts";
import { formatPlatform, parsePlatform } from "../../address/platform.ts";
import { failure } from "../../errors/index.ts";
import { formatArchiveName } from "../../address/archive-name.ts";
import type { BlobStore } from "../../store/blobs/blob-store.ts";
import { addEvidence } from "../../trust/settle.ts";
import type { Admission } from "../trust/admission.ts";
import type { ReleaseRequest } from "../trust/request.ts";
import type { BundleFile } from "./bundle-file.ts";
import type { BundledRelease } from "./manifest.ts";
import { parseProof } from "./proof.ts";
import type { ProviderCatalog } from "../standings/provider-catalog.ts";
import {
  goodEvidence,
  isKept,
  unknownRelease,
  type KnownRelease,
  type StoredEvidence,
} from "../releases/known-release.ts";
import {
  judgeProof,
  prepareProof,
  type ReleaseEvidence,
} from "../releases/verdict.ts";
import {
  bindPackages,
  formatRelease,
  type ReleaseAddress,
  type ReleasePackage,
} from "../releases/release.ts";

export interface JudgingParts {
  readonly catalog: ProviderCatalog;
  readonly admission: Admission;
  readonly blobs: BlobStore;
}

/** Release whose verification material and archives in the bundle are valid. */
export interface JudgedRelease {
  readonly request: ReleaseRequest;
  readonly evidence: StoredEvidence;
  /** OS_ARCH of the platforms that the sender's registry offers. */
  readonly platforms: readonly string[];
  /** The packages to import; each is carried or stored. */
  readonly packages: readonly ReleasePackage[];
}

/**
 * Verifies one release as if an origin had offered it now: signature, digests,
 * names and rules, all by local terms. Changes nothing. Throws the same errors as
 * the daemon would answer with, and bundle-incomplete.
 */
export async function judgeRelease(
  parts: JudgingParts,
  bundle: BundleFile,
  entry: BundledRelease,
): Promise<JudgedRelease> {
  const { catalog, admission } = parts;
  const { address, platforms } = entry;
  const { rules } = admission;
  const origin = catalog.originOf(address.provider);
  const request = await admission.openVersion(address, { origin, rules });
  const known = await catalog.peekRelease(address);
  const evidence = await verify(request, bundle, entry, known);
  const packages = [...entry.archives].map(([name, sha256]) =>
    findSigned(address, evidence, name, sha256),
  );
  await expectAtHand(parts, bundle, packages);
  const names = [...platforms.map(formatPlatform), ...entry.archives.keys()];
  return { request, evidence, platforms: names, packages };
}

/** Adds a bundled release to what is known. The carried keys are not what the registry publishes now: they undo and restore nothing. */
export function takeBundled(
  known: KnownRelease | undefined,
  { evidence, platforms }: JudgedRelease,
): KnownRelease {
  const before = known ?? unknownRelease;
  const { trust, offered } = before;
  const isKnown = trust.evidence.some(({ id }) => id === evidence.id);
  const names = known === undefined ? [] : offered;
  return {
    ...before,
    trust: isKnown ? trust : addEvidence(trust, evidence, isKept(trust)),
    // The registry's keys judge it at the next look-up, be they the same as before.
    keys: isKnown ? before.keys : [],
    offered: names && new Set([...names, ...platforms]),
  };
}

/** Verifies the carried proof; one that was left out has to be known. */
async function verify(
  { origin }: ReleaseRequest,
  bundle: BundleFile,
  { address, proof }: BundledRelease,
  known: KnownRelease | undefined,
): Promise<StoredEvidence> {
  if (!bundle.carries(proof)) {
    const newest = known?.trust.evidence.findLast(({ isGood }) => isGood);
    if (newest === undefined)
      throw failure("bundle-incomplete", formatRelease(address));
    return newest;
  }
  const { policy, judge, clock } = origin;
  const claim = readEvidence(address, await bundle.readProof(proof));
  const now = clock.now();
  const prepared = prepareProof(address, claim, policy, judge.library, now);
  const checksums = await judgeProof(address, prepared, judge);
  return goodEvidence(address, prepared, [], checksums);
}

function readEvidence(
  address: ReleaseAddress,
  bytes: Uint8Array,
): ReleaseEvidence {
  try {
    return parseProof(bytes);
  } catch (cause) {
    const name = `The proof of ${formatRelease(address)}`;
    throw failure("bundle-refused", name, "it is not in a form that is known", {
      cause,
    });
  }
}

/**
 * Finds the signed packages. The manifest only selects them; their names and
 * content are the signed ones.
 */
function findSigned(
  address: ReleaseAddress,
  { checksums }: StoredEvidence,
  name: string,
  claimed: Sha256,
): ReleasePackage {
  const platform = parsePlatform(name);
  const found = checksums && bindPackages(address, checksums, [platform]);
  const signed = found?.get(name);
  if (signed === undefined) {
    const { provider, version } = address;
    const filename = formatArchiveName(provider, version, platform);
    throw failure("archive-not-signed", formatRelease(address), filename);
  }
  const { filename, sha256 } = signed;
  if (sha256 !== claimed)
    throw failure("checksum-conflict", filename, sha256, claimed, "the bundle");
  return signed;
}

async function expectAtHand(
  { blobs }: JudgingParts,
  bundle: BundleFile,
  packages: readonly ReleasePackage[],
): Promise<void> {
  for (const { filename, sha256 } of packages)
    if (!bundle.carries(sha256) && (await blobs.size(sha256)) === undefined)
      throw failure("bundle-incomplete", filename);
}
