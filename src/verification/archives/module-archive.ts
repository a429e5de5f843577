import { pipeline } from "node:stream/promises";
import { extract, type Extract, type Header } from "tar-stream";
import type { ArchiveFormat } from "../../address/module-archive-name.ts";
import { type ArchiveLimits, ArchiveRefused, refuseBomb } from "./limits.ts";
import { type ArchiveMember, findEscape, type Visit } from "./members.ts";
import { gunzip } from "./gunzip.ts";
import { type OpenArchive, readBytes } from "./open-archive.ts";
import { readZipContent } from "./zip-content.ts";
import { readZipDirectory, type ZipEntry } from "./zip-directory.ts";

const beginnings: Readonly<Record<Exclude<ArchiveFormat, "zip">, string>> = {
  "tar.gz": "\x1f\x8b\x08",
  "tar.xz": "\xfd7zXZ\0",
  "tar.bz2": "BZh",
};

/** Average bounds for each member that an archive may have, on what is kept of all together. */
const mostNameBytes = 512;
const mostLinkParts = 32;

/**
 * Reads an archive to its end and returns its members; nothing is unpacked. Of `tar.xz` and `tar.bz2` only the beginning is
 * looked at, for want of a decompressor, and there are none.
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
  const { entries } = limits;
  let [bytes, parts] = [0, 0];
  const read = format === "zip" ? readZipMembers : readTarMembers;
  await read(archive, limits, (member) => {
    const { name, kind, target = "" } = member;
    bytes += name.length + target.length;
    // Only links are kept part by part.
    if (kind === "symbolic link") parts += name.split("/").length;
    if (members.push(member) > entries)
      throw new ArchiveRefused(`it has more than ${entries} members`);
    if (bytes > entries * mostNameBytes || parts > entries * mostLinkParts)
      throw new ArchiveRefused("its names are too long or too deep together");
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

/** With fields that the types of tar-stream omit. */
type ReadHeader = Omit<Header, "type" | "linkname" | "pax"> & {
  readonly type: Header["type"] | null;
  readonly linkname: string | null;
  readonly pax: Readonly<Record<string, string>> | null;
  /** Offset of the content's first byte in the tar. */
  readonly byteOffset: number;
};

/** Headers of V7 tars name no format; tar-stream's types lack this option. */
const options: object = { allowUnknownFormat: true };

/** Bytes of all headers before one member's content, the end of the last member's content included. */
const longestHeaders = 1 << 16;

const kinds: Readonly<Record<string, ArchiveMember["kind"]>> = {
  file: "file",
  "contiguous-file": "file",
  directory: "directory",
  symlink: "symbolic link",
  link: "hard link",
};

/** Reads the members of a tar.gz. */
async function readTarMembers(
  archive: OpenArchive,
  limits: ArchiveLimits,
  visit: Visit,
): Promise<void> {
  const reader = extract(options);
  const results = await Promise.allSettled([
    readEntries(reader, visit),
    pipeline(bound(gunzip(archive), archive.size, limits), reader),
  ]);
  const failed = results.find(({ status }) => status === "rejected");
  if (failed?.status === "rejected") throw failed.reason;
}

async function readEntries(entries: Extract, visit: Visit): Promise<void> {
  let end = 0;
  for await (const entry of entries) {
    const header = entry.header as unknown as ReadHeader;
    if (header.byteOffset - end > longestHeaders)
      throw new ArchiveRefused("a member has too many attributes");
    end = header.byteOffset + header.size;
    const take = visit(describe(header));
    if (header.size > 0)
      for await (const bytes of entry) take?.(bytes as Buffer);
  }
}

function describe(header: ReadHeader): ArchiveMember {
  const { name, type, size, linkname, pax } = header;
  // Old tars have no type for directories.
  const isDirectory = type === "file" && name.endsWith("/");
  const kind = isDirectory ? "directory" : kinds[type ?? ""];
  if (kind === undefined)
    throw new ArchiveRefused(`it has a ${type ?? "member of an unknown type"}`);
  // Go makes such a file as long as its attributes state.
  if (Object.keys(pax ?? {}).some((key) => key.startsWith("GNU.sparse.")))
    throw new ArchiveRefused("it has a sparse file");
  if (kind !== "file" && size > 0)
    throw new ArchiveRefused(`a ${kind} has content`);
  return { name, kind, target: linkname ?? undefined };
}

/** The pieces, as long as the limits allow. */
async function* bound(
  pieces: AsyncIterable<Buffer>,
  size: number,
  limits: ArchiveLimits,
): AsyncGenerator<Buffer> {
  let expanded = 0;
  for await (const piece of pieces) {
    expanded += piece.length;
    refuseBomb(expanded, size, limits);
    yield piece;
  }
}

const longestTarget = 4096;

/** Reads the members of a zip. */
async function readZipMembers(
  archive: OpenArchive,
  limits: ArchiveLimits,
  visit: Visit,
): Promise<void> {
  const entries = await readZipDirectory(archive, limits);
  for (const entry of entries) {
    const member = {
      name: entry.fileNameRaw.toString("utf8"),
      kind: kindOf(entry),
    };
    if (member.kind === "symbolic link")
      visit({ ...member, target: await readTarget(archive, entry) });
    else
      await readZipContent(archive, entry, visit(member) ?? (() => undefined));
  }
}

/** The mode of Unix, the attribute of DOS or the name's end make a directory. */
function kindOf({
  fileNameRaw: name,
  externalFileAttributes: attributes,
}: ZipEntry): ArchiveMember["kind"] {
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
  if (entry.uncompressedSize > longestTarget)
    throw new ArchiveRefused("a link has a target that is too long");
  const pieces: Buffer[] = [];
  await readZipContent(archive, entry, (bytes) =>
    pieces.push(Buffer.from(bytes)),
  );
  return Buffer.concat(pieces).toString("utf8");
}
