import type { ArchiveFormat } from "../../address/module-archive-name.ts";
import { failure } from "../../errors/index.ts";
import { ArchiveRefused, type ArchiveLimits } from "./limits.ts";
import { findEscape, type ArchiveMember, type Visit } from "./members.ts";
import { readBytes, type OpenArchive } from "./open-archive.ts";
import { readTarMembers } from "./tar-members.ts";
import { readZipMembers } from "./zip-members.ts";

const harmlessBytes = 1 << 20;

const beginnings: Readonly<Record<Exclude<ArchiveFormat, "zip">, string>> = {
  "tar.gz": "\x1f\x8b\x08",
  "tar.xz": "\xfd7zXZ\0",
  "tar.bz2": "BZh",
};

/**
 * Throws module-archive-refused for what could reach out of the folder that it is unpacked in, or fill the disk.
 * Nothing is unpacked. Of `tar.xz` and `tar.bz2` only the beginning is looked at, for want of a decompressor.
 */
export async function verifyModuleArchive(
  module: string,
  format: ArchiveFormat,
  archive: OpenArchive,
  limits: ArchiveLimits,
): Promise<void> {
  try {
    await readMembers(format, archive, limits);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EIO") throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw failure("module-archive-refused", module, reason, { cause: error });
  }
}

/**
 * Reads an archive to its end and returns its members; none for a format that
 * is not inspected. Throws ArchiveRefused, and errors of zlib, tar-stream and
 * yauzl.
 */
export async function readMembers(
  format: ArchiveFormat,
  archive: OpenArchive,
  limits: ArchiveLimits,
  visit: Visit = () => undefined,
): Promise<readonly ArchiveMember[]> {
  if (format !== "zip") await expectBeginning(archive, beginnings[format]);
  if (format === "tar.xz" || format === "tar.bz2") return [];
  const members: ArchiveMember[] = [];
  const bounds = new NameBounds(limits);
  const read = format === "zip" ? readZipMembers : readTarMembers;
  await read(archive, { ...limits, harmlessBytes }, (member) => {
    bounds.take(member);
    members.push(member);
    return visit(member);
  });
  const escape = findEscape(members);
  if (escape !== undefined) throw new ArchiveRefused(escape);
  if (members.length === 0) throw new ArchiveRefused("it is empty");
  return members;
}

async function expectBeginning(
  archive: OpenArchive,
  beginning: string,
): Promise<void> {
  const length = Math.min(archive.size, beginning.length);
  const found = await readBytes(archive, 0, length);
  if (found.toString("latin1") !== beginning)
    throw new ArchiveRefused("it is not of the kind that its name says");
}

/** Average bound for each member that an archive may have. */
const mostNameBytes = 512;
const mostLinkParts = 32;

/** Bounds what is kept of all members together. */
class NameBounds {
  readonly #entries: number;
  #members = 0;
  #bytes = 0;
  #parts = 0;

  constructor({ entries }: ArchiveLimits) {
    this.#entries = entries;
  }

  /** Throws ArchiveRefused. */
  take({ name, kind, target = "" }: ArchiveMember): void {
    const most = this.#entries;
    this.#members++;
    this.#bytes += name.length + target.length;
    // Only links are kept part by part.
    if (kind === "symbolic link") this.#parts += name.split("/").length;
    if (this.#members > most)
      throw new ArchiveRefused(`it has more than ${most} members`);
    if (
      this.#bytes > most * mostNameBytes ||
      this.#parts > most * mostLinkParts
    )
      throw new ArchiveRefused("its names are too long or too deep together");
  }
}
