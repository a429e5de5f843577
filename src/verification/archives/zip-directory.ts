import {
  type Entry,
  fromRandomAccessReaderPromise,
  RandomAccessReader,
  type ZipFile,
} from "yauzl";
import { type ArchiveLimits, ArchiveRefused, refuseBomb } from "./limits.ts";
import { type OpenArchive, readBytes } from "./open-archive.ts";

const windowBytes = 1 << 16;

/** One entry of the central directory, with the place of its content. */
export interface ZipEntry {
  /** Name as stored in the archive: no decoding, no cleaning. */
  readonly name: Buffer;
  readonly deflated: boolean;
  /** External ones, of DOS and of Unix. */
  readonly attributes: number;
  readonly crc32: number;
  readonly size: number;
  readonly headerStart: number;
  readonly contentStart: number;
  readonly contentBytes: number;
  readonly hasDescriptor: boolean;
}

/** Lists the entries of the central directory, in its order. Errors of yauzl itself are plain errors. */
export async function readZipDirectory(
  archive: OpenArchive,
  limits: ArchiveLimits,
): Promise<readonly ZipEntry[]> {
  const zip = await fromRandomAccessReaderPromise(
    new ArchiveReader(archive),
    archive.size,
    { decodeStrings: false, autoClose: false },
  );
  if (zip.entryCount > limits.entries)
    throw new ArchiveRefused(`it has more than ${limits.entries} entries`);
  const place = await locateDirectory(archive, Buffer.byteLength(zip.comment));
  const found = await readDirectory(zip, place, limits);
  found.forEach(refuseUnreadable);
  const expanded = found.reduce((sum, e) => sum + e.uncompressedSize, 0);
  refuseBomb(expanded, archive.size, limits);
  const entries: ZipEntry[] = [];
  for (const entry of found) entries.push(await locateContent(zip, entry));
  refuseOverlap(entries, place);
  return entries;
}

async function readDirectory(
  zip: ZipFile,
  place: DirectoryPlace,
  limits: ArchiveLimits,
): Promise<readonly Entry[]> {
  const headerBytes = 46;
  const generousBytes = 4096;
  if (place.end - place.start > limits.entries * generousBytes)
    throw new ArchiveRefused("its central directory is too large");
  const entries: Entry[] = [];
  let bytes = 0;
  for await (const entry of zip.eachEntry()) {
    entries.push(entry);
    bytes +=
      headerBytes +
      entry.fileNameLength +
      entry.extraFieldLength +
      entry.fileCommentLength;
  }
  // Go reads entries until another signature follows, and ignores the announced
  // number.
  if (bytes !== place.end - place.start)
    throw new ArchiveRefused(
      "its central directory does not hold what it announces",
    );
  return entries;
}

function refuseUnreadable(entry: Entry): void {
  if (entry.isEncrypted()) throw new ArchiveRefused("an entry is encrypted");
  if (entry.compressionMethod !== 0 && entry.compressionMethod !== 8)
    throw new ArchiveRefused(
      `an entry has the compression method ${entry.compressionMethod}, expected stored (0) or deflated (8)`,
    );
}

async function locateContent(zip: ZipFile, entry: Entry): Promise<ZipEntry> {
  const local = await zip.readLocalFileHeaderPromise(entry);
  return {
    name: entry.fileNameRaw,
    attributes: entry.externalFileAttributes,
    deflated: entry.compressionMethod === 8,
    crc32: entry.crc32,
    size: entry.uncompressedSize,
    headerStart: entry.relativeOffsetOfLocalHeader,
    contentStart: local.fileDataStart,
    contentBytes: entry.compressedSize,
    hasDescriptor: (entry.generalPurposeBitFlag & 8) !== 0,
  };
}

/** Entries that share bytes make a small archive expand without bound ("A better zip bomb", D. Fifield, 2019). */
function refuseOverlap(
  entries: readonly ZipEntry[],
  place: DirectoryPlace,
): void {
  let free = 0;
  for (const entry of entries.toSorted(
    (a, b) => a.headerStart - b.headerStart,
  )) {
    if (entry.headerStart < free)
      throw new ArchiveRefused("its entries overlap");
    free = entry.contentStart + entry.contentBytes;
  }
  if (free > place.start) throw new ArchiveRefused("its entries overlap");
}

/** Serves yauzl's many small reads from windows of 64 KiB. */
class ArchiveReader extends RandomAccessReader {
  readonly #archive: OpenArchive;
  #window: Buffer = Buffer.alloc(0);
  #start = 0;

  constructor(archive: OpenArchive) {
    super();
    this.#archive = archive;
  }

  override read(
    target: Buffer,
    offset: number,
    length: number,
    position: number,
    callback: (error: Error | null) => void,
  ): void {
    this.#range(position, length).then(
      (bytes) => {
        bytes.copy(target, offset);
        callback(null);
      },
      (error: unknown) => callback(error as Error),
    );
  }

  async #range(position: number, length: number): Promise<Buffer> {
    const left = this.#archive.size - position;
    if (length > left) throw new ArchiveRefused("it points past its own end");
    const from = position - this.#start;
    if (from >= 0 && from + length <= this.#window.length)
      return this.#window.subarray(from, from + length);
    const bytes = Math.min(left, Math.max(length, windowBytes));
    this.#window = await readBytes(this.#archive, position, bytes);
    this.#start = position;
    return this.#window.subarray(0, length);
  }
}

/** Position of the central directory, in bytes from the archive's start. */
interface DirectoryPlace {
  readonly start: number;
  readonly end: number;
}

const endSignature = Buffer.from("PK\x05\x06", "latin1");
const locatorSignature = Buffer.from("PK\x06\x07", "latin1");
const endBytes = 22;
const locatorBytes = 20;

/**
 * The place that the end record (APPNOTE 4.3.16) gives. Throws ArchiveRefused unless every reader must find the same one: nothing before
 * the archive, nothing between directory and end, and no zip64 record, which only some look for and no archive of this size needs.
 */
async function locateDirectory(
  archive: OpenArchive,
  commentBytes: number,
): Promise<DirectoryPlace> {
  const end = archive.size - endBytes - commentBytes;
  const from = Math.max(0, end - locatorBytes);
  const bytes = await readBytes(archive, from, archive.size - from);
  const record = bytes.subarray(end - from);
  if (record.includes(endSignature, endBytes))
    throw new ArchiveRefused("its comment looks like an end record");
  if (bytes.indexOf(locatorSignature) === 0)
    throw new ArchiveRefused("it is a zip64 archive");
  const start = record.readUInt32LE(16);
  if (start + record.readUInt32LE(12) !== end)
    throw new ArchiveRefused(
      "its central directory is not where its end record says",
    );
  return { start, end };
}
