import type { ArchiveFormat } from "../../address/module-archive-name.ts";
import { ByteReader } from "../../verification/archives/byte-reader.ts";
import type { ArchiveLimits } from "../../verification/archives/limits.ts";
import {
  followLink,
  splitPath,
  type ListedMember,
} from "../../verification/archives/members.ts";
import {
  expandTar,
  listMembers,
} from "../../verification/archives/module-archive.ts";
import type { OpenArchive } from "../../verification/archives/open-archive.ts";
import { readZipContent } from "../../verification/archives/zip-content.ts";
import { readZipDirectory } from "../../verification/archives/zip-directory.ts";

/** Files of an archive by their paths, whose parts are joined by one slash each. */
export interface ModuleFiles {
  readonly files: ReadonlyMap<string, Buffer>;
  /** What links lead to, from the top. */
  readonly links: ReadonlyMap<string, string>;
}

/** Of a format that is not looked into nothing is known. Throws ArchiveRefused, and what zlib and yauzl say. */
export async function readModuleFiles(
  format: ArchiveFormat,
  archive: OpenArchive,
  limits: ArchiveLimits,
  isWanted: (member: ListedMember) => boolean,
): Promise<ModuleFiles | undefined> {
  if (format !== "zip" && format !== "tar.gz") return undefined;
  const members = await listMembers(format, archive, limits);
  const wanted = members.filter((one) => one.kind === "file" && isWanted(one));
  const read = format === "zip" ? readFromZip : readFromTar;
  const contents = await read(archive, limits, wanted);
  return {
    files: new Map(
      wanted.map(({ name }, index) => [
        pathOf(name),
        contents[index] ?? Buffer.alloc(0),
      ]),
    ),
    links: new Map(members.flatMap(readLink)),
  };
}

function readLink({
  name,
  kind,
  target = "",
}: ListedMember): readonly (readonly [string, string])[] {
  if (kind === "hard link") return [[pathOf(name), pathOf(target)]];
  if (kind !== "symbolic link") return [];
  const folder = (splitPath(name) ?? []).slice(0, -1);
  return [[pathOf(name), (followLink(folder, target) ?? []).join("/")]];
}

function pathOf(name: string): string {
  return (splitPath(name) ?? []).join("/");
}

/** In the order of the tar, which is that of its list. */
async function readFromTar(
  archive: OpenArchive,
  limits: ArchiveLimits,
  wanted: readonly ListedMember[],
): Promise<readonly Buffer[]> {
  const reader = new ByteReader(expandTar(archive, limits));
  const contents: Buffer[] = [];
  let at = 0;
  for (const { contentStart, size } of wanted) {
    await reader.skip(contentStart - at);
    contents.push(await reader.readUpTo(size));
    at = contentStart + size;
  }
  // To its end, so that nothing is read after the archive was closed.
  await reader.skip(Number.MAX_SAFE_INTEGER);
  return contents;
}

async function readFromZip(
  archive: OpenArchive,
  limits: ArchiveLimits,
  wanted: readonly ListedMember[],
): Promise<readonly Buffer[]> {
  const { entries } = await readZipDirectory(archive, limits);
  const byPlace = new Map(entries.map((one) => [one.contentStart, one]));
  const contents: Buffer[] = [];
  for (const { contentStart } of wanted) {
    const pieces: Buffer[] = [];
    const entry = byPlace.get(contentStart);
    if (entry !== undefined)
      await readZipContent(archive, entry, (bytes) =>
        pieces.push(Buffer.from(bytes)),
      );
    contents.push(Buffer.concat(pieces));
  }
  return contents;
}
