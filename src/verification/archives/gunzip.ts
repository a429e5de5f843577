import { pipeline } from "node:stream/promises";
import { crc32, createInflateRaw } from "node:zlib";
import { ArchiveRefused } from "./limits.ts";
import { type OpenArchive, readBytes, readPieces } from "./open-archive.ts";

const magic = "\x1f\x8b\x08";
const fixedHeader = 10;
const trailer = 8;
/** Programs that pack in blocks make one of each 64 KiB. */
const mostMembers = 20_000;
/** Names and comments in a header are far shorter. */
const longestHeader = 1 << 16;

/**
 * Unpacks the members of a gzip (RFC 1952). What follows them and is no member is not read, as clients do not read it;
 * Node's own reader takes it for a member that is broken.
 */
export async function* gunzip(archive: OpenArchive): AsyncGenerator<Buffer> {
  let at = 0;
  let members = 0;
  do {
    if (++members > mostMembers)
      throw new ArchiveRefused(`its gzip has more than ${mostMembers} members`);
    const start = at + (await measureHeader(archive, at));
    const inflate = createInflateRaw({ chunkSize: 1 << 16 });
    const rest = readPieces(archive, start, archive.size - start);
    const fed = pipeline(rest, inflate);
    fed.catch(() => undefined);
    let [crc, size] = [0, 0];
    for await (const piece of inflate as AsyncIterable<Buffer>) {
      crc = crc32(piece, crc);
      size += piece.length;
      yield piece;
    }
    const end = start + inflate.bytesWritten;
    const told = await readWithin(archive, end, trailer);
    if (told.length < trailer)
      throw new ArchiveRefused("unexpected end of file");
    if (told.readUInt32LE(0) !== crc || told.readUInt32LE(4) !== size >>> 0)
      throw new ArchiveRefused("incorrect data check");
    at = end + trailer;
  } while (await isMember(archive, at));
}

async function isMember(archive: OpenArchive, at: number): Promise<boolean> {
  const start = await readWithin(archive, at, fixedHeader);
  return (
    start.length === fixedHeader && start.toString("latin1", 0, 3) === magic
  );
}

/** Bytes of a member's header: flags say what comes behind its first ten (2.3.1). */
async function measureHeader(
  archive: OpenArchive,
  at: number,
): Promise<number> {
  const header = await readWithin(archive, at, longestHeader);
  const flags = header[3] ?? 0;
  let length = fixedHeader;
  if ((flags & 4) !== 0 && length + 2 <= header.length)
    length += 2 + header.readUInt16LE(length);
  for (const text of [8, 16])
    if ((flags & text) !== 0) {
      const zero = header.indexOf(0, length);
      length = zero < 0 ? longestHeader : zero + 1;
    }
  if ((flags & 2) !== 0) length += 2;
  if (length >= header.length)
    throw new ArchiveRefused("unexpected end of file");
  return length;
}

function readWithin(
  archive: OpenArchive,
  at: number,
  most: number,
): Promise<Buffer> {
  return readBytes(archive, at, Math.max(0, Math.min(most, archive.size - at)));
}
