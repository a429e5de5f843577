import { createHash } from "node:crypto";
import { open, readdir } from "node:fs/promises";
import { join } from "node:path";
import type { Hostname } from "../../address/hostname.ts";
import type { ProviderAddress } from "../../address/provider-address.ts";
import {
  isVersion,
  parseVersion,
  type Version,
} from "../../address/version.ts";
import { ChecksumConflict, InputInvalid } from "../../errors/index.ts";
import type { ReleaseAddress } from "../../mirror/releases/release.ts";
import {
  judgeProof,
  prepareProof,
  type SignatureJudge,
  type SignaturePolicy,
} from "../../mirror/releases/verdict.ts";
import { readNamespaceKeys } from "../../origin/folder/namespace-keys.ts";
import { OriginFolder } from "../../origin/folder/origin-folder.ts";
import {
  readReleaseFolder,
  type FolderRelease,
} from "../../origin/folder/release-folder.ts";
import type { OriginLimits } from "../../origin/guard/origin-settings.ts";
import {
  findTrustedDigest,
  type SignedChecksums,
} from "../../verification/signed-checksums.ts";

export interface DistParts {
  /** Of the origin whose folder it is; names the release in messages. */
  readonly hostname: Hostname;
  readonly policy: SignaturePolicy;
  readonly judge: SignatureJudge;
  readonly limits: OriginLimits;
  readonly now: () => Date;
}

/** As the one SHA256SUMS says; throws InputInvalid. */
export async function findDistName(from: string) {
  const names = await readdir(from).catch((cause: unknown) => {
    throw new InputInvalid(from, "it cannot be read.", { cause });
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
    throw new InputInvalid(
      from,
      `expected one terraform-provider-TYPE_VERSION_SHA256SUMS, got ${found.length}: give the folder that goreleaser made of one release.`,
    );
  return one;
}

/** Throws InputInvalid unless all that belongs to the release is there, and OriginAnswerUnusable for what is too large to be served. */
export async function readDist(
  place: string,
  provider: ProviderAddress,
  version: Version,
  { limits, policy }: DistParts,
): Promise<FolderRelease> {
  const folder = new OriginFolder(place);
  const signed = policy.signatures === "required";
  const reading = { folder, limits, signed };
  const read = await readReleaseFolder(reading, [], provider, version);
  const reason = read === undefined ? "it is not there" : "";
  if (read === undefined || "unfit" in read)
    throw new InputInvalid(place, `${read?.unfit ?? reason}.`);
  for (const { filename } of read.packages.values())
    await folder.isFile([filename], limits.archive);
  if (read.signature !== undefined)
    await folder.isFile([read.signature], limits.signature);
  return read;
}

/** What is published of it; goreleaser leaves more. */
export async function listDistFiles(
  from: string,
  { packages, checksums, signature }: FolderRelease,
  type: string,
  version: Version,
): Promise<readonly string[]> {
  const manifest = `terraform-provider-${type}_${version}_manifest.json`;
  const names = await readdir(from);
  return [
    ...packages.values().map(({ filename }) => filename),
    checksums,
    ...(signature === undefined ? [] : [signature]),
    ...(names.includes(manifest) ? [manifest] : []),
  ];
}

/** As the mirror judges it, and every copied file by its digest. Throws what the mirror would refuse it with. */
export async function judgeDist(
  staged: string,
  to: string,
  address: ReleaseAddress,
  release: FolderRelease,
  { policy, judge, limits, now }: DistParts,
): Promise<void> {
  const root = new OriginFolder(to);
  const folder = new OriginFolder(staged);
  const { namespace, type } = address.provider;
  // Throws where the mirror would not look for it, such as behind a link that leads out.
  await root.list([namespace, type]);
  const read = (name: string, most: number) => folder.read([name], most);
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
  for (const name of await readdir(staged))
    await expectDigest(join(staged, name), name, checksums);
}

/** Of what is signed; SHA256SUMS does not list itself. */
async function expectDigest(
  path: string,
  name: string,
  checksums: SignedChecksums,
): Promise<void> {
  if (!checksums.sha256ByFilename.has(name)) return;
  const expected = findTrustedDigest(checksums, name);
  const hash = createHash("sha256");
  await using file = await open(path);
  for await (const piece of file.createReadStream({ autoClose: false }))
    hash.update(piece as Uint8Array);
  const got = hash.digest("hex");
  if (got !== expected) throw new ChecksumConflict(name, expected, got, path);
}
