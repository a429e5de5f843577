import { createHash } from "node:crypto";
import { pipeline } from "node:stream/promises";
import { crc32, createInflateRaw } from "node:zlib";
import { ArchiveUnhashable } from "../../errors/index.ts";
import { parsePackageHash, type PackageHash } from "../../address/hash.ts";
import { readBytes, readPieces, type OpenArchive } from "./open-archive.ts";
import {
  listEntries,
  unhashable,
  type PackageLimits,
  type ZipEntry,
} from "./zip-directory.ts";

/**
 * The h1 of a package: Go's dirhash.HashZip with Hash1 (golang.org/x/mod/sumdb/dirhash). Throws ArchiveUnhashable when there is no h1
 * that all clients would agree on, and the system's own error when the archive cannot be read.
 */
export async function hashPackage(
  archive: OpenArchive,
  limits: PackageLimits,
): Promise<PackageHash> {
  try {
    const entries = await listEntries(archive, limits);
    return combine(entries, await hashContents(archive, entries));
  } catch (error) {
    throw asVerdict(error);
  }
}

/** Hash1: a line for each entry, also for those of one name, sorted by the name's bytes. */
function combine(
  entries: readonly ZipEntry[],
  contents: ReadonlyMap<string, string>,
): PackageHash {
  const sum = createHash("sha256");
  for (const { name } of entries.toSorted((a, b) => a.name.compare(b.name))) {
    sum.update(`${contents.get(keyOf(name)) ?? ""}  `);
    sum.update(name);
    sum.update("\n");
  }
  return parsePackageHash(`h1:${sum.digest("base64")}`);
}

/** SHA-256 in hexadecimal by name; of several entries of one name only the last is read, as HashZip does. */
async function hashContents(
  archive: OpenArchive,
  entries: readonly ZipEntry[],
): Promise<ReadonlyMap<string, string>> {
  const last = new Map(entries.map((entry) => [keyOf(entry.name), entry]));
  const contents = new Map<string, string>();
  for (const [key, entry] of last)
    contents.set(key, await hashContent(archive, entry));
  return contents;
}

async function hashContent(
  archive: OpenArchive,
  entry: ZipEntry,
): Promise<string> {
  const sha256 = createHash("sha256");
  let checksum = 0;
  let size = 0;
  await readContent(archive, entry, (bytes) => {
    size += bytes.length;
    if (size > entry.size) throw lyingSize();
    checksum = crc32(bytes, checksum);
    sha256.update(bytes);
  });
  if (size !== entry.size) throw lyingSize();
  if (checksum !== entry.crc32 || !(await isDescribed(archive, entry)))
    throw unhashable("the CRC of an entry is wrong");
  return sha256.digest("hex");
}

/** Hands on the expanded content piece by piece; while one piece is used, zlib's thread expands the next. */
async function readContent(
  archive: OpenArchive,
  entry: ZipEntry,
  use: (bytes: Buffer) => void,
): Promise<void> {
  const pieces = readPieces(archive, entry.contentStart, entry.contentBytes);
  if (!entry.deflated) {
    for await (const bytes of pieces) use(bytes);
    return;
  }
  const inflate = createInflateRaw({ chunkSize: 1 << 18 });
  await pipeline(pieces, inflate, async (expanded) => {
    for await (const bytes of expanded as AsyncIterable<Buffer>) {
      use(bytes);
      freeIfLast(bytes);
    }
  });
  if (inflate.bytesWritten !== entry.contentBytes) throw lyingSize();
}

/** zlib writes no more into memory whose end it has reached; a collection may be a hundred of those away. */
function freeIfLast({ buffer, byteOffset, length }: Buffer): void {
  const isLast = byteOffset + length === buffer.byteLength;
  if (isLast && buffer instanceof ArrayBuffer) buffer.transfer(0);
}

/** Whether the data descriptor, if there is one, repeats the CRC (APPNOTE 4.3.9); its signature is optional. */
async function isDescribed(
  archive: OpenArchive,
  entry: ZipEntry,
): Promise<boolean> {
  if (!entry.hasDescriptor) return true;
  const end = entry.contentStart + entry.contentBytes;
  const descriptor = await readBytes(archive, end, 8);
  const signed = descriptor.readUInt32LE(0) === 0x08074b50;
  return descriptor.readUInt32LE(signed ? 4 : 0) === entry.crc32;
}

function lyingSize(): ArchiveUnhashable {
  return unhashable("an entry does not have the size that it announces");
}

function keyOf(name: Buffer): string {
  return name.toString("latin1");
}

/** What zlib and yauzl say of bytes is a verdict; what the system says of a file is not. */
function asVerdict(error: unknown): unknown {
  if (!(error instanceof Error) || error.constructor !== Error) return error;
  const code = "code" in error ? String(error.code) : "Z_";
  if (!code.startsWith("Z_")) return error;
  const reason = error.message.split(/[.?](?: |$)/)[0] ?? "";
  return new ArchiveUnhashable("The archive", reason, { cause: error });
}
