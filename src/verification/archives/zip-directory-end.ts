import { ArchiveUnhashable } from "../../errors/index.ts";
import { readBytes, type OpenArchive } from "./open-archive.ts";

/** Where the central directory lies, in bytes from the archive's start. */
export interface DirectoryPlace {
  readonly start: number;
  readonly end: number;
}

const endBytes = 22;
const locatorBytes = 20;
const endBytes64 = 56;

/**
 * The place that the end record (APPNOTE 4.3.16, with zip64 4.3.14 and 4.3.15) gives. Throws ArchiveUnhashable unless every reader
 * must find the same one: nothing before the archive, nothing between directory and end, and no zip64 record that only some look for.
 */
export async function locateDirectory(
  archive: OpenArchive,
  commentBytes: number,
): Promise<DirectoryPlace> {
  const endStart = archive.size - endBytes - commentBytes;
  const end = await readBytes(archive, endStart, endBytes);
  const locator = await readLocator(archive, endStart);
  const { directory, start, size } = locator
    ? await readEnd64(archive, end, locator)
    : {
        directory: endStart,
        start: end.readUInt32LE(16),
        size: end.readUInt32LE(12),
      };
  if (start + size !== directory)
    throw ambiguous("its central directory is not where its end record says");
  return { start, end: directory };
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
  locator: Buffer,
): Promise<{ directory: number; start: number; size: number }> {
  // Go looks at the zip64 record only when one of these is full; yauzl always does.
  const wanted =
    end.readUInt16LE(10) === 0xffff || end.readUInt32LE(16) === 0xffffffff;
  const oneDisk =
    locator.readUInt32LE(4) === 0 && locator.readUInt32LE(16) === 1;
  const directory = Number(locator.readBigUInt64LE(8));
  if (!wanted || !oneDisk)
    throw ambiguous("readers disagree whether it is a zip64 archive");
  const record = await readBytes(archive, directory, endBytes64);
  return {
    directory,
    start: Number(record.readBigUInt64LE(48)),
    size: Number(record.readBigUInt64LE(40)),
  };
}

function ambiguous(reason: string): ArchiveUnhashable {
  return new ArchiveUnhashable("The archive", reason);
}
