import { hash } from "node:crypto";
import type { Sha256 } from "../../address/hash.ts";
import { formatPlatform } from "../../address/platform.ts";
import {
  formatManifest,
  parseManifest,
  type BundleManifest,
} from "./manifest.ts";
import { formatProof } from "./proof.ts";
import type { ExportedModule, ExportedPackage } from "./export-packages.ts";
import { formatRelease } from "../releases/release.ts";

interface Proof {
  readonly sha256: Sha256;
  readonly bytes: Buffer;
}

/** Plan of a bundle: its manifest, and the proofs by digest. */
export interface BundlePlan {
  readonly manifest: BundleManifest;
  readonly proofs: ReadonlyMap<Sha256, Buffer>;
}

/**
 * Lists every package and carries what `since` does not list. A release of which
 * an archive is carried has its proof with it.
 */
export function planBundle(
  packages: readonly ExportedPackage[],
  modules: readonly ExportedModule[],
  since: BundleManifest | undefined,
): BundlePlan {
  const listed = new Set([
    ...(since?.releases ?? []).flatMap(({ proof, archives }) => [
      proof,
      ...archives.values(),
    ]),
    ...(since?.modules ?? []).map(({ archive }) => archive.sha256),
  ]);
  const releases = [
    ...Map.groupBy(packages, ({ request }) =>
      formatRelease(request.address),
    ).values(),
  ].map((group) => planRelease(group, listed));
  const carried = releases.filter((release) => release.carriesProof);
  const proofs = carried.map(({ proof: { sha256, bytes } }) => ({
    sha256,
    size: bytes.length,
  }));
  const archives = releases.flatMap((release) => release.carried);
  const entries = releases.map(({ entry }) => entry);
  const moduleArchives = modules
    .map(({ archive, size }) => ({ sha256: archive.sha256, size }))
    .filter(({ sha256 }) => !listed.has(sha256));
  const text = formatManifest({
    ...{ releases: entries, modules, proofs, archives, moduleArchives },
  });
  return {
    manifest: parseManifest(text),
    proofs: new Map(
      carried.map(({ proof }) => [proof.sha256, proof.bytes] as const),
    ),
  };
}

function planRelease(
  group: readonly ExportedPackage[],
  listed: ReadonlySet<Sha256>,
) {
  const [{ request, release }] = group as [ExportedPackage];
  const { address } = request;
  const proof = makeProof(release.proof);
  const carried = group
    .map(({ found: { sha256 }, size }) => ({ sha256, size }))
    .filter(({ sha256 }) => !listed.has(sha256));
  const entry = {
    address,
    proof: proof.sha256,
    platforms: [...release.packages.values()].map(({ platform }) => platform),
    archives: new Map(
      group.map(({ found: { platform, sha256 } }) => [
        formatPlatform(platform),
        sha256,
      ]),
    ),
  };
  const carriesProof = carried.length > 0 || !listed.has(proof.sha256);
  return { entry, proof, carried, carriesProof };
}

function makeProof(proof: ExportedPackage["release"]["proof"]): Proof {
  const bytes = formatProof(proof);
  const sha256 = hash("sha256", bytes) as Sha256;
  return { sha256, bytes };
}
