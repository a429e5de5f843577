import { crc32, createInflateRaw } from "node:zlib";
import { ArchiveRefused } from "./limits.ts";
import { readBytes, readPieces, type OpenArchive } from "./open-archive.ts";

/** The header with the longest extra field, name and comment that readers take. */
const longestHeader = 10 + 2 + 0xffff + 512 + 512 + 2;
const trailerBytes = 8;

const hasHeaderSum = 2;
const hasExtra = 4;
const hasName = 8;
const hasComment = 16;
const reserved = 0xe0;

/**
 * The content of a gzip file (RFC 1952). Throws ArchiveRefused for a wrong checksum or size, and for more than one member or bytes after it:
 * some readers go on there and some do not.
 */
export async function* gunzip(
  archive: OpenArchive,
): AsyncGenerator<Uint8Array> {
  const start = await findContent(archive);
  const length = archive.size - start - trailerBytes;
  if (length < 0) throw new ArchiveRefused("it is cut short");
  let size = 0;
  let sum = 0;
  for await (const piece of inflate(archive, start, length)) {
    size += piece.length;
    sum = crc32(piece, sum);
    yield piece;
  }
  const trailer = await readBytes(archive, start + length, trailerBytes);
  if (trailer.readUInt32LE(0) !== sum)
    throw new ArchiveRefused("its gzip checksum is wrong");
  if (trailer.readUInt32LE(4) !== size % 2 ** 32)
    throw new ArchiveRefused("its gzip size is wrong");
}

async function* inflate(
  archive: OpenArchive,
  start: number,
  length: number,
): AsyncGenerator<Uint8Array> {
  const inflate = createInflateRaw({ chunkSize: 1 << 16 });
  const feed = async () => {
    for await (const piece of readPieces(archive, start, length)) {
      if (inflate.destroyed) return;
      if (!inflate.write(piece)) await drained(inflate);
    }
    inflate.end();
  };
  void feed().catch((error: unknown) => inflate.destroy(error as Error));
  try {
    yield* inflate as AsyncIterable<Uint8Array>;
    if (inflate.bytesWritten !== length)
      throw new ArchiveRefused("it has bytes after its gzip member");
  } finally {
    inflate.destroy();
  }
}

async function drained(stream: NodeJS.EventEmitter): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  stream.once("drain", resolve).once("close", resolve);
  await promise;
}

/** The length of the header. */
async function findContent(archive: OpenArchive): Promise<number> {
  const length = Math.min(archive.size, longestHeader);
  const bytes = await readBytes(archive, 0, length);
  if (bytes.length < 10 || bytes.readUIntBE(0, 3) !== 0x1f8b08)
    throw new ArchiveRefused("it is not of the kind that its name says");
  const flags = bytes.readUInt8(3);
  if ((flags & reserved) !== 0)
    throw new ArchiveRefused("its gzip header is of an unknown kind");
  let at = 10;
  if ((flags & hasExtra) !== 0)
    at += 2 + (at + 2 <= length ? bytes.readUInt16LE(at) : 0);
  for (const flag of [hasName, hasComment])
    if ((flags & flag) !== 0) at = endOfText(bytes, at);
  if ((flags & hasHeaderSum) !== 0) at = endOfSum(bytes, at);
  return at;
}

function endOfText(bytes: Buffer, start: number): number {
  const end = bytes.indexOf(0, start);
  if (end < 0 || end - start >= 512)
    throw new ArchiveRefused("its gzip header has no end");
  return end + 1;
}

function endOfSum(bytes: Buffer, at: number): number {
  const end = at + 2;
  const sum = crc32(bytes.subarray(0, at)) & 0xffff;
  if (end > bytes.length || bytes.readUInt16LE(at) !== sum)
    throw new ArchiveRefused("its gzip header has a wrong checksum");
  return end;
}
