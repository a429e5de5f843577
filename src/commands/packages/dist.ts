import { createHash } from "node:crypto";
import { readdir } from "node:fs/promises";
import type { Hostname } from "../../address/hostname.ts";
import { isVersion, parseVersion } from "../../address/version.ts";
import { failure } from "../../errors/index.ts";
import type { ReleaseAddress } from "../../mirror/releases/release.ts";
import {
  judgeProof,
  prepareProof,
  type SignatureJudge,
  type SignaturePolicy,
} from "../../mirror/releases/verdict.ts";
import { readNamespaceKeys } from "../../origin/folder/namespace-keys.ts";
import type { OriginFolder } from "../../origin/folder/origin-folder.ts";
import {
  formatManifestName,
  readReleaseFolder,
  type FolderRelease,
} from "../../origin/folder/release-folder.ts";
import type { OriginLimits } from "../../origin/guard/origin-settings.ts";
import { findTrustedDigest } from "../../verification/signed-checksums.ts";

export interface DistParts {
  /**
   * Hostname of the origin whose folder it is; names the release in messages.
   */
  readonly hostname: Hostname;
  readonly policy: SignaturePolicy;
  readonly judge: SignatureJudge;
  readonly limits: OriginLimits;
  readonly now: () => Date;
}

/** Finds the release's name in the one SHA256SUMS; throws an input error. */
export async function findDistName(from: string) {
  const names = await readdir(from).catch((cause: unknown) => {
    throw failure(
      "input",
      from,
      "it cannot be read",
      "check the path and its permissions",
      { cause },
    );
  });
  const found = names.flatMap((name) => {
    const [, type, version] =
      /^terraform-provider-([a-z0-9-]+)_([^_]+)_SHA256SUMS$/.exec(name) ?? [];
    return type !== undefined && isVersion(version ?? "")
      ? [{ type, version: parseVersion(version ?? "") }]
      : [];
  });
  const [one, ...others] = found;
  if (one === undefined || others.length > 0)
    throw failure(
      "input",
      from,
      `expected one terraform-provider-TYPE_VERSION_SHA256SUMS, got ${found.length}`,
      "give the folder that goreleaser made of one release",
    );
  return one;
}

/** The release that a folder has at `parts`. */
export interface Dist {
  readonly address: ReleaseAddress;
  /** Path of the release in folders that stand for registries. */
  readonly place: readonly string[];
  readonly folder: OriginFolder;
  readonly parts: readonly string[];
  readonly release: FolderRelease;
  /** Files to publish, in the order in which they are written; without the last one it is not taken for a release. */
  readonly files: readonly string[];
}

/** Throws an input error unless all that belongs to the release is there, and origin-answer for what is too large to be served. */
export async function readDist(
  folder: OriginFolder,
  parts: readonly string[],
  address: ReleaseAddress,
  { limits, policy }: DistParts,
): Promise<Dist> {
  const { provider, version } = address;
  const signed = policy.signatures === "required";
  const reading = { folder, limits, signed };
  const release = await readReleaseFolder(reading, parts, provider, version);
  if (release === undefined || "unfit" in release)
    throw failure(
      "input",
      folder.show(parts),
      release?.unfit ?? "it is not there",
      "give all that belongs to the release",
    );
  const { packages, checksums, signature } = release;
  const archives = [...packages.values()].map(({ filename }) => filename);
  for (const name of archives)
    await folder.measure([...parts, name], limits.archive);
  const signatures = signature === undefined ? [] : [signature];
  for (const name of signatures)
    await folder.measure([...parts, name], limits.signature);
  const manifest = formatManifestName(provider, version);
  const size = await folder.measure([...parts, manifest]);
  const manifests = size === undefined ? [] : [manifest];
  const files = [...archives, ...manifests, ...signatures, checksums];
  const place = [provider.namespace, provider.type, version];
  return { address, place, folder, parts, release, files };
}

/**
 * Verifies the release as the mirror that has `root` would, and every file by
 * its digest. Throws the errors with which the mirror would refuse it.
 */
export async function judgeDist(
  { address, folder, parts, release, files }: Dist,
  root: OriginFolder,
  { policy, judge, limits, now }: DistParts,
): Promise<void> {
  const { namespace, type } = address.provider;
  // Throws where the mirror would not look for it, such as behind a link that leads out.
  await root.list([namespace, type]);
  const read = (name: string, most: number) =>
    folder.read([...parts, name], most);
  const evidence = {
    source: "registry",
    document: (await read(release.checksums, limits.checksums)) ?? Buffer.of(),
    signature:
      release.signature === undefined
        ? undefined
        : await read(release.signature, limits.signature),
    keys: await readNamespaceKeys(root, namespace, limits),
  } as const;
  const proof = prepareProof(address, evidence, policy, judge.library, now());
  const checksums = await judgeProof(address, proof, judge);
  for (const name of files) {
    // SHA256SUMS does not list itself.
    if (!checksums.sha256ByFilename.has(name)) continue;
    const expected = findTrustedDigest(checksums, name);
    const got = await digestOf(folder, [...parts, name]);
    if (got === expected) continue;
    const path = folder.show([...parts, name]);
    throw failure("checksum-conflict", name, expected, got ?? "nothing", path);
  }
}

/**
 * Returns the SHA-256 of a file in hexadecimal; undefined when it is missing.
 */
export async function digestOf(
  folder: OriginFolder,
  parts: readonly string[],
): Promise<string | undefined> {
  if ((await folder.measure(parts)) === undefined) return undefined;
  const hash = createHash("sha256");
  for await (const piece of folder.stream(parts)) hash.update(piece);
  return hash.digest("hex");
}
