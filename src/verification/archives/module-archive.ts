import { createGunzip } from "node:zlib";
import { fromFdPromise, type Entry, type ZipFile } from "yauzl";
import type { ArchiveFormat } from "../../address/module-archive-name.ts";
import { ModuleArchiveRefused } from "../../errors/index.ts";
import { findEscape, type ArchiveMember } from "./members.ts";
import { readBytes, readPieces, type OpenArchive } from "./open-archive.ts";
import { listTarMembers } from "./tar-members.ts";
import type { PackageLimits } from "./zip-directory.ts";

/** Small archives of much emptiness are no bombs. */
const harmlessBytes = 1 << 20;

/**
 * Throws ModuleArchiveRefused for what could reach out of the folder that it is unpacked in, or fill the disk. Nothing is unpacked. Of
 * `tar.xz` and `tar.bz2` only the beginning is looked at, for want of a decompressor.
 */
export async function verifyModuleArchive(
  module: string,
  format: ArchiveFormat,
  archive: OpenArchive,
  limits: PackageLimits,
): Promise<void> {
  try {
    const members = await listMembers(format, archive, limits);
    const escape = findEscape(members);
    if (escape !== undefined) throw new Error(escape);
    if (members.length === 0 && (format === "tar.gz" || format === "zip"))
      throw new Error("it is empty");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EIO") throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw new ModuleArchiveRefused(module, reason, { cause: error });
  }
}

function listMembers(
  format: ArchiveFormat,
  archive: OpenArchive,
  limits: PackageLimits,
): Promise<readonly ArchiveMember[]> {
  switch (format) {
    case "tar.gz":
      return listTar(archive, limits);
    case "zip":
      return listZip(archive, limits);
    case "tar.xz":
      return expectBeginning(archive, Buffer.from("\xfd7zXZ\0", "latin1"));
    case "tar.bz2":
      return expectBeginning(archive, Buffer.from("BZh"));
  }
}

async function expectBeginning(
  archive: OpenArchive,
  beginning: Buffer,
): Promise<readonly ArchiveMember[]> {
  const length = Math.min(archive.size, beginning.length);
  if (!(await readBytes(archive, 0, length)).equals(beginning))
    throw new Error("it is not of the kind that its name says");
  return [];
}

async function listTar(
  archive: OpenArchive,
  limits: PackageLimits,
): Promise<readonly ArchiveMember[]> {
  const members: ArchiveMember[] = [];
  const tar = bounded(gunzip(archive), archive, limits);
  for await (const member of listTarMembers(tar)) {
    if (members.length >= limits.entries) throw tooMany(limits);
    members.push(member);
  }
  return members;
}

async function* gunzip(archive: OpenArchive): AsyncGenerator<Uint8Array> {
  const source = readPieces(archive, 0, archive.size);
  const gunzip = createGunzip();
  const feed = async () => {
    for await (const piece of source) {
      if (gunzip.destroyed) return;
      if (!gunzip.write(piece)) await drained(gunzip);
    }
    gunzip.end();
  };
  void feed().catch((error: unknown) => gunzip.destroy(error as Error));
  try {
    yield* gunzip as AsyncIterable<Uint8Array>;
  } finally {
    gunzip.destroy();
  }
}

async function drained(stream: NodeJS.EventEmitter): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  stream.once("drain", resolve).once("close", resolve);
  await promise;
}

async function* bounded(
  bytes: AsyncIterable<Uint8Array>,
  { size }: OpenArchive,
  { expandedBytes, ratio }: PackageLimits,
): AsyncGenerator<Uint8Array> {
  let expanded = 0;
  for await (const piece of bytes) {
    expanded += piece.length;
    refuseBomb(expanded, size, { expandedBytes, ratio });
    yield piece;
  }
}

function refuseBomb(
  expanded: number,
  size: number,
  { expandedBytes, ratio }: Omit<PackageLimits, "entries">,
): void {
  if (expanded > expandedBytes)
    throw new Error(`it expands to more than ${expandedBytes} bytes`);
  if (expanded > ratio * size + harmlessBytes)
    throw new Error(`it expands to more than ${ratio} times its size`);
}

async function listZip(
  archive: OpenArchive,
  limits: PackageLimits,
): Promise<readonly ArchiveMember[]> {
  const zip = await fromFdPromise(archive.fd, { autoClose: false });
  if (zip.entryCount > limits.entries) throw tooMany(limits);
  const members: ArchiveMember[] = [];
  let expanded = 0;
  for await (const entry of zip.eachEntry()) {
    if (members.length >= limits.entries) throw tooMany(limits);
    expanded += entry.uncompressedSize;
    refuseBomb(expanded, archive.size, limits);
    members.push(await readZipMember(zip, entry));
  }
  return members;
}

const unixTypes: Readonly<Record<number, ArchiveMember["kind"]>> = {
  0: "file",
  4: "directory",
  8: "file",
  10: "symbolic link",
};

async function readZipMember(
  zip: ZipFile,
  entry: Entry,
): Promise<ArchiveMember> {
  const name = entry.fileName;
  const kind = unixTypes[entry.externalFileAttributes >>> 28];
  if (kind === undefined) throw new Error("it has a device or a pipe");
  if (entry.isEncrypted()) throw new Error("a member is encrypted");
  if (name.endsWith("/")) return { name, kind: "directory" };
  const start = await readWhole(zip, entry);
  return kind === "symbolic link"
    ? { name, kind, target: start.toString("utf8") }
    : { name, kind };
}

/** Reads an entry to its end, since its size is only true when it was read; returns no more than a link's target takes. */
async function readWhole(zip: ZipFile, entry: Entry): Promise<Buffer> {
  const longest = 4096;
  let start = Buffer.alloc(0);
  const content = await zip.openReadStreamPromise(entry);
  for await (const piece of content as AsyncIterable<Buffer>)
    if (start.length < longest)
      start = Buffer.concat([start, piece.subarray(0, longest)]);
  return start;
}

function tooMany({ entries }: PackageLimits): Error {
  return new Error(`it has more than ${entries} members`);
}
