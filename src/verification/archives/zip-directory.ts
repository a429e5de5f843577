import {
  fromRandomAccessReaderPromise,
  RandomAccessReader,
  type Entry,
  type ZipFile,
} from "yauzl";
import { ArchiveUnhashable } from "../../errors/index.ts";
import { readBytes, type OpenArchive } from "./open-archive.ts";
import { locateDirectory, type DirectoryPlace } from "./zip-directory-end.ts";

const windowBytes = 1 << 16;

export interface PackageLimits {
  readonly entries: number;
  /** Bytes of all entries together, once expanded. */
  readonly expandedBytes: number;
  /** Expanded bytes to one byte of archive. */
  readonly ratio: number;
}

/** One entry of the central directory, with the place of its content. */
export interface ZipEntry {
  /** As in the archive: no decoding, no cleaning. */
  readonly name: Buffer;
  readonly deflated: boolean;
  readonly crc32: number;
  readonly size: number;
  readonly headerStart: number;
  readonly contentStart: number;
  readonly contentBytes: number;
  readonly hasDescriptor: boolean;
}

/**
 * The entries in the order of the central directory. Throws ArchiveUnhashable where Go's archive/zip would not read the
 * archive or readers could disagree about it; yauzl's own complaints come as plain errors.
 */
export async function listEntries(
  archive: OpenArchive,
  limits: PackageLimits,
): Promise<readonly ZipEntry[]> {
  const zip = await fromRandomAccessReaderPromise(
    new ArchiveReader(archive),
    archive.size,
    { decodeStrings: false, autoClose: false },
  );
  if (zip.entryCount > limits.entries)
    throw unhashable(`it has more than ${limits.entries} entries`);
  const place = await locateDirectory(archive, Buffer.byteLength(zip.comment));
  const found = await readDirectory(zip, place, limits);
  found.forEach(refuseUnreadable);
  refuseBomb(archive, found, limits);
  const entries: ZipEntry[] = [];
  for (const entry of found) entries.push(await locateContent(zip, entry));
  refuseOverlap(entries, place);
  return entries;
}

export function unhashable(reason: string): ArchiveUnhashable {
  return new ArchiveUnhashable("The archive", reason);
}

async function readDirectory(
  zip: ZipFile,
  place: DirectoryPlace,
  limits: PackageLimits,
): Promise<readonly Entry[]> {
  const headerBytes = 46;
  const generousBytes = 4096;
  if (place.end - place.start > limits.entries * generousBytes)
    throw unhashable("its central directory is too large");
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
  // Go reads entries until something else comes, whatever number the archive gives.
  if (bytes !== place.end - place.start)
    throw unhashable("its central directory does not hold what it announces");
  return entries;
}

function refuseUnreadable(entry: Entry): void {
  // Unpacked directories have no line in h1, and DOS and Unix attributes can make one without a slash.
  const unixDirectory = entry.externalFileAttributes >>> 28 === 4;
  const dosDirectory = (entry.externalFileAttributes & 0x10) !== 0;
  if (entry.fileNameRaw.at(-1) === 0x2f || unixDirectory || dosDirectory)
    throw unhashable("it has an entry for a directory");
  if (entry.fileNameRaw.includes("\n"))
    throw unhashable("an entry has a newline in its name");
  if (entry.isEncrypted()) throw unhashable("an entry is encrypted");
  if (entry.compressionMethod !== 0 && entry.compressionMethod !== 8)
    throw unhashable(
      `an entry has the compression method ${entry.compressionMethod}, expected stored (0) or deflated (8)`,
    );
}

function refuseBomb(
  archive: OpenArchive,
  entries: readonly Entry[],
  limits: PackageLimits,
): void {
  const expanded = entries.reduce((sum, e) => sum + e.uncompressedSize, 0);
  if (expanded > limits.expandedBytes)
    throw unhashable(`it expands to more than ${limits.expandedBytes} bytes`);
  if (expanded > limits.ratio * archive.size)
    throw unhashable(`it expands to more than ${limits.ratio} times its size`);
}

async function locateContent(zip: ZipFile, entry: Entry): Promise<ZipEntry> {
  const local = await zip.readLocalFileHeaderPromise(entry, { minimal: true });
  return {
    name: entry.fileNameRaw,
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
    if (entry.headerStart < free) throw unhashable("its entries overlap");
    free = entry.contentStart + entry.contentBytes;
  }
  if (free > place.start) throw unhashable("its entries overlap");
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
    if (length > left) throw unhashable("it points past its own end");
    const from = position - this.#start;
    if (from >= 0 && from + length <= this.#window.length)
      return this.#window.subarray(from, from + length);
    const bytes = Math.min(left, Math.max(length, windowBytes));
    this.#window = await readBytes(this.#archive, position, bytes);
    this.#start = position;
    return this.#window.subarray(0, length);
  }
}
