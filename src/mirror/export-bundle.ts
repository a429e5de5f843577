import { createHash, type Hash } from "node:crypto";
import { open, rename, rm, type FileHandle } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { formatPlatform } from "../address/platform.ts";
import type { Sha256 } from "../address/hash.ts";
import { ExportFailed, StoredArchiveDamaged } from "../errors.ts";
import type { BlobStore } from "../store/blob-store.ts";
import {
  formatManifest,
  listMembers,
  manifestName,
  parseManifest,
  type BundleManifest,
} from "./bundle-manifest.ts";
import { formatProof } from "./bundle-proof.ts";
import {
  formatTarHeader,
  largestMember,
  tarEnd,
  tarPadding,
  type TarMember,
} from "./bundle-tar.ts";
import type { ExportedPackage } from "./export-packages.ts";
import { formatRelease } from "./release.ts";

interface Proof {
  readonly sha256: Sha256;
  readonly bytes: Buffer;
}

/** What a bundle will be: its manifest, and the proofs by digest. */
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
  since: BundleManifest | undefined,
): BundlePlan {
  const listed = new Set(
    since?.releases.flatMap(({ proof, archives }) => [
      proof,
      ...archives.values(),
    ]),
  );
  const releases = [
    ...Map.groupBy(packages, ({ address }) => formatRelease(address)).values(),
  ].map((group) => planRelease(group, listed));
  const carried = releases.filter((release) => release.carriesProof);
  const proofs = carried.map(({ proof: { sha256, bytes } }) => ({
    sha256,
    size: bytes.length,
  }));
  const archives = releases.flatMap((release) => release.carried);
  const entries = releases.map(({ entry }) => entry);
  const manifest = formatManifest({ releases: entries, proofs, archives });
  return {
    manifest: parseManifest(manifest),
    proofs: new Map(
      carried.map(({ proof }) => [proof.sha256, proof.bytes] as const),
    ),
  };
}

function planRelease(
  group: readonly ExportedPackage[],
  listed: ReadonlySet<Sha256>,
) {
  const [{ address, release }] = group as [ExportedPackage];
  const proof = makeProof(release.proof);
  const carried = group
    .map(({ found: { sha256 }, size }) => ({ sha256: sha256, size }))
    .filter(({ sha256 }) => !listed.has(sha256));
  const entry = {
    address,
    proof: proof.sha256,
    platforms: [...release.packages.values()].map(({ platform }) => platform),
    archives: new Map(
      group.map(({ found: { platform, sha256 } }) => [
        formatPlatform(platform),
        sha256 as Sha256,
      ]),
    ),
  };
  const carriesProof = carried.length > 0 || !listed.has(proof.sha256);
  return { entry, proof, carried, carriesProof };
}

function makeProof(proof: ExportedPackage["release"]["proof"]): Proof {
  const bytes = formatProof(proof);
  const sha256 = createHash("sha256").update(bytes).digest("hex") as Sha256;
  return { sha256, bytes };
}

/**
 * Writes the whole bundle beside `path` and gives it its name at the end; equal
 * content makes equal bytes. Returns its size in bytes. Throws ExportFailed.
 */
export async function writeBundle(
  path: string,
  plan: BundlePlan,
  blobs: BlobStore,
  signal: AbortSignal,
): Promise<number> {
  const partial = join(
    dirname(path),
    `.${basename(path)}.${crypto.randomUUID()}.partial`,
  );
  const handle = await open(partial, "wx").catch((error: unknown) => {
    throw asFailure(path, error);
  });
  try {
    const size = await writeMembers(handle, plan, blobs, signal);
    await handle.sync();
    await rename(partial, path);
    return size;
  } catch (error) {
    await rm(partial, { force: true });
    throw asFailure(path, error);
  } finally {
    await handle.close();
  }
}

async function writeMembers(
  handle: FileHandle,
  { manifest, proofs }: BundlePlan,
  blobs: BlobStore,
  signal: AbortSignal,
): Promise<number> {
  const tar = new TarWriter(handle);
  const text = Buffer.from(formatManifest(manifest));
  await tar.begin({ name: manifestName, size: text.length });
  await tar.append(text);
  for (const member of listMembers(manifest)) {
    await tar.begin(member);
    const proof = proofs.get(member.sha256);
    if (proof === undefined)
      await copyArchive(tar, member.sha256, member.size, blobs, signal);
    else await tar.append(proof);
  }
  return tar.end();
}

/** What the manifest says of an archive is already written, so other bytes end the bundle. */
async function copyArchive(
  tar: TarWriter,
  sha256: Sha256,
  size: number,
  blobs: BlobStore,
  signal: AbortSignal,
): Promise<void> {
  const hash = createHash("sha256");
  const blob = await blobs.open(sha256);
  try {
    if (blob?.size === size) await copy(tar, blob.handle, hash, signal);
  } finally {
    await blob?.handle.close();
  }
  const got = hash.digest("hex");
  if (got !== sha256) throw new StoredArchiveDamaged(sha256, sha256, got);
}

async function copy(
  tar: TarWriter,
  from: FileHandle,
  hash: Hash,
  signal: AbortSignal,
): Promise<void> {
  const buffer = Buffer.allocUnsafeSlow(1024 * 1024);
  for (let position = 0; ;) {
    signal.throwIfAborted();
    const { bytesRead } = await from.read(buffer, 0, buffer.length, position);
    if (bytesRead === 0) return;
    const piece = buffer.subarray(0, bytesRead);
    hash.update(piece);
    await tar.append(piece);
    position += bytesRead;
  }
}

/** One member after the other; what is begun has to be appended whole. */
class TarWriter {
  readonly #handle: FileHandle;
  #written = 0;

  constructor(handle: FileHandle) {
    this.#handle = handle;
  }

  async begin(member: TarMember): Promise<void> {
    if (member.size > largestMember)
      throw new RangeError(`${member.name} is too large for a bundle`);
    await this.#pad();
    await this.append(formatTarHeader(member));
  }

  async append(bytes: Uint8Array): Promise<void> {
    await this.#handle.writeFile(bytes);
    this.#written += bytes.length;
  }

  async end(): Promise<number> {
    await this.#pad();
    await this.append(tarEnd);
    return this.#written;
  }

  async #pad(): Promise<void> {
    await this.append(Buffer.alloc(tarPadding(this.#written)));
  }
}

/** What the file system said about the file that was to be written. */
function asFailure(path: string, error: unknown): unknown {
  const { code, syscall } = error as NodeJS.ErrnoException;
  return syscall === undefined
    ? error
    : new ExportFailed(path, code ?? syscall, { cause: error });
}
