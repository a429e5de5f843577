import { createHash, type Hash } from "node:crypto";
import { open, rename, rm, type FileHandle } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { Sha256 } from "../../address/hash.ts";
import { failure } from "../../errors/index.ts";
import type { BlobStore } from "../../store/blobs/blob-store.ts";
import { asFailure } from "./export-folder.ts";
import type { BundlePlan } from "./export-plan.ts";
import { formatManifest, listMembers, manifestName } from "./manifest.ts";
import {
  formatTarHeader,
  largestMember,
  tarEnd,
  tarPadding,
  type TarMember,
} from "./tar-header.ts";

/**
 * Writes the whole bundle beside `path` and gives it its name at the end; equal content makes equal bytes. `most` is
 * the size of the largest manifest that is read. Returns the size in bytes.
 */
export async function writeBundle(
  path: string,
  plan: BundlePlan,
  blobs: BlobStore,
  { most, signal }: { readonly most: number; readonly signal: AbortSignal },
): Promise<number> {
  if (Buffer.byteLength(formatManifest(plan.manifest)) > most)
    throw failure("export-failed", path, "it lists too much for one bundle");
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

/** Copies an archive into the bundle. */
async function copyArchive(
  tar: TarWriter,
  sha256: Sha256,
  size: number,
  blobs: BlobStore,
  signal: AbortSignal,
): Promise<void> {
  const hash = createHash("sha256");
  const blob = await blobs.open(sha256);
  await using handle = blob?.handle;
  if (handle !== undefined && blob?.size === size)
    await copy(tar, handle, hash, signal);
  const got = hash.digest("hex");
  if (got !== sha256)
    throw failure("stored-archive-damaged", sha256, `its SHA-256 is ${got}`);
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
