import { ArchiveRefused } from "./limits.ts";
import { readBytes, type OpenArchive } from "./open-archive.ts";

/** Position of the central directory, in bytes from the archive's start. */
export interface DirectoryPlace {
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
export async function locateDirectory(
  archive: OpenArchive,
  commentBytes: number,
): Promise<DirectoryPlace> {
  const endStart = archive.size - endBytes - commentBytes;
  const end = await readBytes(archive, endStart, archive.size - endStart);
  if (end.includes(signature, endBytes))
    throw new ArchiveRefused("its comment looks like an end record");
  const locator = await readLocator(archive, endStart);
  const { directoryEnd, start, size, isOneDisk } = locator
    ? await readEnd64(archive, end, endStart, locator)
    : { directoryEnd: endStart, ...readEnd(end) };
  if (!isOneDisk) throw new ArchiveRefused("it has several disks");
  if (start + size !== directoryEnd)
    throw new ArchiveRefused(
      "its central directory is not where its end record says",
    );
  return { start, end: directoryEnd };
}

function readEnd(end: Buffer) {
  return {
    start: end.readUInt32LE(16),
    size: end.readUInt32LE(12),
    isOneDisk:
      end.readUInt16LE(6) === 0 && end.readUInt16LE(8) === end.readUInt16LE(10),
  };
}

async function readLocator(
  archive: OpenArchive,
  endStart: number,
): Promise<Buffer | undefined> {
  if (endStart < locatorBytes) return undefined;
  const bytes = await readBytes(archive, endStart - locatorBytes, locatorBytes);
  return bytes.readUInt32LE(0) === 0x07064b50 ? bytes : undefined;
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
  return { directoryEnd, start, size, isOneDisk };
}
