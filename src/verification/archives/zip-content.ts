import { pipeline } from "node:stream/promises";
import { crc32, createInflateRaw } from "node:zlib";
import { ArchiveRefused } from "./limits.ts";
import { readBytes, readPieces, type OpenArchive } from "./open-archive.ts";
import type { ZipEntry } from "./zip-directory.ts";

/** Passes the expanded content of an entry on piece by piece. */
export async function readZipContent(
  archive: OpenArchive,
  entry: ZipEntry,
  use: (bytes: Buffer) => void,
): Promise<void> {
  let checksum = 0;
  let size = 0;
  await expand(archive, entry, (bytes) => {
    size += bytes.length;
    if (size > entry.uncompressedSize) throw lyingSize();
    checksum = crc32(bytes, checksum);
    use(bytes);
  });
  if (size !== entry.uncompressedSize) throw lyingSize();
  if (checksum !== entry.crc32 || !(await isDescribed(archive, entry)))
    throw new ArchiveRefused("the CRC of an entry is wrong");
}

/** While one piece is used, zlib's thread expands the next. */
async function expand(
  archive: OpenArchive,
  entry: ZipEntry,
  use: (bytes: Buffer) => void,
): Promise<void> {
  const pieces = readPieces(archive, entry.contentStart, entry.compressedSize);
  if (entry.compressionMethod === 0) {
    for await (const bytes of pieces) use(bytes);
    return;
  }
  // Each piece is new memory: large ones add up to much before they are collected.
  const inflate = createInflateRaw({ chunkSize: 1 << 16 });
  await pipeline(pieces, inflate, async (expanded) => {
    for await (const bytes of expanded as AsyncIterable<Buffer>) use(bytes);
  });
  if (inflate.bytesWritten !== entry.compressedSize) throw lyingSize();
}

/**
 * Checks that the data descriptor, if there is one, repeats the CRC (APPNOTE
 * 4.3.9). Its signature is optional.
 */
async function isDescribed(
  archive: OpenArchive,
  entry: ZipEntry,
): Promise<boolean> {
  if ((entry.generalPurposeBitFlag & 8) === 0) return true;
  const end = entry.contentStart + entry.compressedSize;
  const descriptor = await readBytes(archive, end, 8);
  const signed = descriptor.readUInt32LE(0) === 0x08074b50;
  return descriptor.readUInt32LE(signed ? 4 : 0) === entry.crc32;
}

function lyingSize(): ArchiveRefused {
  return new ArchiveRefused(
    "an entry does not have the size that it announces",
  );
}
