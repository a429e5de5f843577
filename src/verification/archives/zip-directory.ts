import {
  type Entry,
  fromRandomAccessReaderPromise,
  RandomAccessReader,
} from "yauzl";
import { type ArchiveLimits, ArchiveRefused, refuseBomb } from "./limits.ts";
import { type OpenArchive, readBytes } from "./open-archive.ts";

/** Bytes of an entry of the central directory: without its texts, and with generous ones. */
const [headerBytes, generousBytes] = [46, 4096] as const;
const windowBytes = 1 << 16;

/** One entry of the central directory, with the place of its content. `fileNameRaw` is its name as it is stored, neither decoded nor cleaned. */
export type ZipEntry = Entry & { readonly contentStart: number };

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
  if (place.end - place.start > limits.entries * generousBytes)
    throw new ArchiveRefused("its central directory is too large");
  const found: Entry[] = [];
  let [bytes, expanded] = [0, 0];
  for await (const entry of zip.eachEntry()) {
    refuseUnreadable(entry);
    const { fileNameLength, extraFieldLength, fileCommentLength } = entry;
    bytes +=
      headerBytes + fileNameLength + extraFieldLength + fileCommentLength;
    expanded += entry.uncompressedSize;
    refuseBomb(expanded, archive.size, limits);
    found.push(entry);
  }
  // Go reads entries until another signature follows, and ignores the announced number.
  if (bytes !== place.end - place.start)
    throw new ArchiveRefused(
      "its central directory does not hold what it announces",
    );
  const entries: ZipEntry[] = [];
  for (const entry of found) {
    const local = await zip.readLocalFileHeaderPromise(entry);
    const contentStart = local.fileDataStart;
    entries.push(Object.assign(entry, { contentStart }));
  }
  refuseOverlap(entries, place);
  return entries;
}

function refuseUnreadable(entry: Entry): void {
  if (entry.isEncrypted()) throw new ArchiveRefused("an entry is encrypted");
  if (entry.compressionMethod !== 0 && entry.compressionMethod !== 8)
    throw new ArchiveRefused(
      `an entry has the compression method ${entry.compressionMethod}, expected stored (0) or deflated (8)`,
    );
}

/** Entries that share bytes make a small archive expand without bound ("A better zip bomb", D. Fifield, 2019). */
function refuseOverlap(
  entries: readonly ZipEntry[],
  place: DirectoryPlace,
): void {
  const start = (entry: ZipEntry) => entry.relativeOffsetOfLocalHeader;
  let free = 0;
  for (const entry of entries.toSorted((a, b) => start(a) - start(b))) {
    if (start(entry) < free) throw new ArchiveRefused("its entries overlap");
    free = entry.contentStart + entry.compressedSize;
  }
  if (free > place.start) throw new ArchiveRefused("its entries overlap");
}

/** Serves yauzl's many small reads from windows of 64 KiB. Its own readers throw where nobody catches for a place that is no safe integer. */
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
    this.#load(position, length).then(() => {
      const from = position - this.#start;
      this.#window.copy(target, offset, from, from + length);
      callback(null);
    }, callback);
  }

  async #load(position: number, length: number): Promise<void> {
    const left = this.#archive.size - position;
    if (length > left) throw new ArchiveRefused("it points past its own end");
    const from = position - this.#start;
    if (from >= 0 && from + length <= this.#window.length) return;
    const bytes = Math.min(left, Math.max(length, windowBytes));
    this.#window = await readBytes(this.#archive, position, bytes);
    this.#start = position;
  }
}

/** Position of the central directory, in bytes from the archive's start. */
interface DirectoryPlace {
  readonly start: number;
  readonly end: number;
}

const signature = Buffer.from("PK\x05\x06", "latin1");
const endBytes = 22;
const locatorBytes = 20;
const endBytes64 = 56;

/**
 * The place that the end record (APPNOTE 4.3.16, with zip64 4.3.14 and 4.3.15) gives. Throws ArchiveRefused unless every reader
 * must find the same one: nothing before the archive, nothing between directory and end, and no zip64 record that only some look for.
 */
async function locateDirectory(
  archive: OpenArchive,
  commentBytes: number,
): Promise<DirectoryPlace> {
  const endStart = archive.size - endBytes - commentBytes;
  const end = await readBytes(archive, endStart, archive.size - endStart);
  if (end.includes(signature, endBytes))
    throw new ArchiveRefused("its comment looks like an end record");
  const locatorStart = Math.max(0, endStart - locatorBytes);
  const locator = await readBytes(
    archive,
    locatorStart,
    endStart - locatorStart,
  );
  const is64 =
    locator.length === locatorBytes && locator.readUInt32LE(0) === 0x07064b50;
  const isOneDisk =
    end.readUInt16LE(6) === 0 && end.readUInt16LE(8) === end.readUInt16LE(10);
  if (!is64 && !isOneDisk) throw new ArchiveRefused("it has several disks");
  const { directoryEnd, start, size } = is64
    ? await readEnd64(archive, end, endStart, locator)
    : {
        directoryEnd: endStart,
        start: end.readUInt32LE(16),
        size: end.readUInt32LE(12),
      };
  if (start + size !== directoryEnd)
    throw new ArchiveRefused(
      "its central directory is not where its end record says",
    );
  return { start, end: directoryEnd };
}

async function readEnd64(
  archive: OpenArchive,
  end: Buffer,
  endStart: number,
  locator: Buffer,
) {
  const directoryEnd = Number(locator.readBigUInt64LE(8));
  const record = await readBytes(archive, directoryEnd, endBytes64);
  const read = (at: number) => Number(record.readBigUInt64LE(at));
  const [count, size, start] = [read(32), read(40), read(48)];
  // Go reads the zip64 record only when one of these is full; yauzl always
  // does; some readers do for each number.
  const isWanted =
    end.readUInt16LE(10) === 0xffff || end.readUInt32LE(16) === 0xffffffff;
  const isSame =
    [count, 0xffff].includes(end.readUInt16LE(10)) &&
    [size, 0xffffffff].includes(end.readUInt32LE(12)) &&
    [start, 0xffffffff].includes(end.readUInt32LE(16));
  const isInPlace = directoryEnd + endBytes64 === endStart - locatorBytes;
  const isOneDisk =
    locator.readUInt32LE(4) === 0 &&
    locator.readUInt32LE(16) === 1 &&
    read(24) === count;
  if (!isWanted || !isSame || !isInPlace || !isOneDisk)
    throw new ArchiveRefused("readers disagree whether it is a zip64 archive");
  return { directoryEnd, start, size };
}
