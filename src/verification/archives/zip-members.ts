import { ArchiveRefused, type ArchiveLimits } from "./limits.ts";
import type { ArchiveMember, Visit } from "./members.ts";
import type { OpenArchive } from "./open-archive.ts";
import { readZipContent } from "./zip-content.ts";
import { readZipDirectory, type ZipEntry } from "./zip-directory.ts";

const longestTarget = 4096;

/**
 * Reads the members of a zip. Throws ArchiveRefused, and errors of zlib and
 * yauzl.
 */
export async function readZipMembers(
  archive: OpenArchive,
  limits: ArchiveLimits,
  visit: Visit,
): Promise<void> {
  const entries = await readZipDirectory(archive, limits);
  for (const entry of entries) {
    const member = {
      name: entry.name.toString("utf8"),
      kind: kindOf(entry),
    };
    if (member.kind === "symbolic link")
      visit({ ...member, target: await readTarget(archive, entry) });
    else
      await readZipContent(archive, entry, visit(member) ?? (() => undefined));
  }
}

/** The mode of Unix, the attribute of DOS or the name's end make a directory. */
function kindOf({ name, attributes }: ZipEntry): ArchiveMember["kind"] {
  const type = attributes >>> 28;
  if (![0, 4, 8, 10].includes(type))
    throw new ArchiveRefused("it has a device or a pipe");
  if (type === 10) return "symbolic link";
  const isDirectory =
    type === 4 || (attributes & 0x10) !== 0 || name.at(-1) === 0x2f;
  return isDirectory ? "directory" : "file";
}

async function readTarget(
  archive: OpenArchive,
  entry: ZipEntry,
): Promise<string> {
  if (entry.size > longestTarget)
    throw new ArchiveRefused("a link has a target that is too long");
  const pieces: Buffer[] = [];
  await readZipContent(archive, entry, (bytes) =>
    pieces.push(Buffer.from(bytes)),
  );
  return Buffer.concat(pieces).toString("utf8");
}
