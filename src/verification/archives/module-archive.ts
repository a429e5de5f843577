import type { ArchiveFormat } from "../../address/module-archive-name.ts";
import { ModuleArchiveRefused } from "../../errors/index.ts";
import { findCollision } from "./collisions.ts";
import { gunzip } from "./gzip.ts";
import {
  ArchiveRefused,
  HeaderBudget,
  refuseBomb,
  type ArchiveLimits,
} from "./limits.ts";
import { findEscape, type ListedMember } from "./members.ts";
import { readBytes, type OpenArchive } from "./open-archive.ts";
import { listTarMembers } from "./tar-members.ts";
import { listZipMembers } from "./zip-members.ts";

const harmlessBytes = 1 << 20;

/**
 * Throws ModuleArchiveRefused for what could reach out of the folder that it is unpacked in, fill the disk, or be something else to another
 * reader. Nothing is unpacked. Of `tar.xz` and `tar.bz2` only the beginning is looked at, for want of a decompressor.
 */
export async function verifyModuleArchive(
  module: string,
  format: ArchiveFormat,
  archive: OpenArchive,
  limits: ArchiveLimits,
): Promise<void> {
  try {
    await listMembers(format, archive, limits);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EIO") throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw new ModuleArchiveRefused(module, reason, { cause: error });
  }
}

/** What clients would unpack; nothing of a format that is not looked into. Throws ArchiveRefused, and what zlib and yauzl say. */
export async function listMembers(
  format: ArchiveFormat,
  archive: OpenArchive,
  limits: ArchiveLimits,
): Promise<readonly ListedMember[]> {
  if (format === "tar.xz")
    return expectBeginning(archive, Buffer.from("\xfd7zXZ\0", "latin1"));
  if (format === "tar.bz2") return expectBeginning(archive, Buffer.from("BZh"));
  const list = format === "zip" ? listZipMembers : listTar;
  const members = await list(archive, { ...limits, harmlessBytes });
  const fault = findEscape(members) ?? findCollision(members, limits.entries);
  if (fault !== undefined) throw new ArchiveRefused(fault);
  if (members.length === 0) throw new ArchiveRefused("it is empty");
  return members;
}

async function expectBeginning(
  archive: OpenArchive,
  beginning: Buffer,
): Promise<readonly ListedMember[]> {
  const length = Math.min(archive.size, beginning.length);
  if (!(await readBytes(archive, 0, length)).equals(beginning))
    throw new ArchiveRefused("it is not of the kind that its name says");
  return [];
}

async function listTar(
  archive: OpenArchive,
  limits: ArchiveLimits,
): Promise<readonly ListedMember[]> {
  const tar = expandTar(archive, limits);
  const members: ListedMember[] = [];
  for await (const member of listTarMembers(tar, new HeaderBudget(limits)))
    members.push(member);
  return members;
}

/** The content of a tar, as much of it as the limits allow. */
export async function* expandTar(
  archive: OpenArchive,
  limits: ArchiveLimits,
): AsyncGenerator<Uint8Array> {
  let expanded = 0;
  for await (const piece of gunzip(archive)) {
    expanded += piece.length;
    refuseBomb(expanded, archive.size, { ...limits, harmlessBytes });
    yield piece;
  }
}
