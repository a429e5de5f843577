import { isUtf8 } from "node:buffer";
import { parseExtraFields, type ExtraField, type LocalFileHeader } from "yauzl";
import { ArchiveRefused, HeaderBudget, type ArchiveLimits } from "./limits.ts";
import type { ListedMember } from "./members.ts";
import { readBytes, type OpenArchive } from "./open-archive.ts";
import { readZipContent } from "./zip-content.ts";
import { readZipDirectory, type ZipEntry } from "./zip-directory.ts";

/** Encryption, data descriptor, UTF-8: what the two headers of an entry must agree on. */
const meaningfulFlags = 0x2849;
const utf8Flag = 0x800;
const unixHosts: ReadonlySet<number> = new Set([3, 19]);
const longestTarget = 4096;

/**
 * The members of a zip, each of which was read to its end. Throws ArchiveRefused for what readers could take for different things: those that go
 * through the file from its start must find the same as those that start at the directory.
 */
export async function listZipMembers(
  archive: OpenArchive,
  limits: ArchiveLimits,
): Promise<readonly ListedMember[]> {
  const budget = new HeaderBudget(limits);
  const { entries, directoryStart } = await readZipDirectory(archive, limits);
  await refuseGaps(archive, entries, directoryStart);
  const members: ListedMember[] = [];
  for (const entry of entries) {
    budget.takeText(entry.name.length + entry.local.extraFieldLength);
    refuseOtherHeader(entry);
    members.push(await readMember(archive, entry));
  }
  return members;
}

async function readMember(
  archive: OpenArchive,
  entry: ZipEntry,
): Promise<ListedMember> {
  const kind = kindOf(entry);
  const { size, contentStart } = entry;
  const isLink = kind === "symbolic link";
  if (isLink && size > longestTarget)
    throw new ArchiveRefused("a link has a target that is too long");
  const pieces: Buffer[] = [];
  await readZipContent(archive, entry, (bytes) => {
    if (isLink) pieces.push(Buffer.from(bytes));
  });
  const target = isLink ? decode(Buffer.concat(pieces)) : undefined;
  return { name: decode(entry.name), kind, target, size, contentStart };
}

/** Some readers go by the name, some by the mode of the system that it was made on, some by the attributes of DOS. */
function kindOf({ name, size, attributes, host }: ZipEntry) {
  const type = attributes >>> 28;
  if (type !== 0 && type !== 4 && type !== 8 && type !== 10)
    throw new ArchiveRefused("it has a device or a pipe");
  const isNamedDirectory = name.at(-1) === 0x2f;
  const isDirectory = type === 4 || (attributes & 0x10) !== 0;
  const isFile = type === 8 || type === 10;
  if (isNamedDirectory ? isFile || size > 0 : isDirectory)
    throw new ArchiveRefused("a member is a file and a directory");
  if (isNamedDirectory) return "directory";
  if (type === 10 && !unixHosts.has(host))
    throw new ArchiveRefused("a member is a file and a link");
  return type === 10 ? "symbolic link" : "file";
}

/** Before the content stands the entry's header again. */
function refuseOtherHeader(entry: ZipEntry): void {
  const { local, flags } = entry;
  const isSame =
    local.fileName.equals(entry.name) &&
    local.compressionMethod === entry.method &&
    ((local.generalPurposeBitFlag ^ flags) & meaningfulFlags) === 0;
  if (!isSame || !isSameSize(entry))
    throw new ArchiveRefused("the two headers of a member differ");
  if ((flags & utf8Flag) === 0 && entry.name.some((byte) => byte >= 0x80))
    throw new ArchiveRefused("a name is not said to be UTF-8");
  refuseOtherFields(entry, entry.extraFields);
  refuseOtherFields(entry, parseExtraFields(local.extraField));
}

function isSameSize(entry: ZipEntry): boolean {
  const { local, hasDescriptor } = entry;
  const isTold = (there: number | undefined, here: number) =>
    there === here || (hasDescriptor && there === 0);
  const [size, contentBytes] = readSizes(local);
  return (
    isTold(local.crc32, entry.crc32) &&
    isTold(size, entry.size) &&
    isTold(contentBytes, entry.contentBytes)
  );
}

/** Of the content, expanded and as it stands; none where they should be in 64 bits, which have both (APPNOTE 4.5.3), and are not. */
function readSizes(local: LocalFileHeader): readonly number[] {
  const sizes = [local.uncompressedSize, local.compressedSize];
  if (sizes.some((size) => size !== 0xffffffff)) return sizes;
  const fields = parseExtraFields(local.extraField);
  const data = fields.find(({ id }) => id === zip64Field)?.data ?? Buffer.of();
  if (data.length < 16) return [];
  return [0, 8].map((at) => Number(data.readBigUInt64LE(at)));
}

const zip64Field = 1;
const unicodePathField = 0x7075;

function refuseOtherFields(
  { name, size, contentBytes, headerStart }: ZipEntry,
  fields: readonly ExtraField[],
): void {
  const known = fields.filter(
    ({ id }) => id === zip64Field || id === unicodePathField,
  );
  if (new Set(known.map(({ id }) => id)).size < known.length)
    throw new ArchiveRefused("a member has an extra field twice");
  const [zip64, path] = [zip64Field, unicodePathField].map((wanted) =>
    known.find(({ id }) => id === wanted),
  );
  // Behind a version and the CRC of the plain name (APPNOTE 4.6.9).
  if (path !== undefined && !path.data.subarray(5).equals(name))
    throw new ArchiveRefused("a member has two names");
  if (
    zip64 !== undefined &&
    !isAmong(zip64.data, [size, contentBytes, headerStart])
  )
    throw new ArchiveRefused("a member has two sizes or places");
}

/** Whether numbers of 64 bits are some of `values`, in their order; the number of the disk may follow (APPNOTE 4.5.3). */
function isAmong(data: Buffer, values: readonly number[]): boolean {
  const left = [...values];
  let at = 0;
  for (; at + 8 <= data.length; at += 8) {
    const place = left.indexOf(Number(data.readBigUInt64LE(at)));
    if (place < 0) return false;
    left.splice(0, place + 1);
  }
  const disk = data.subarray(at);
  return disk.length === 0 || (disk.length === 4 && disk.readUInt32LE() === 0);
}

/** Throws ArchiveRefused unless the entries fill the archive up to its directory: what lies between them is a member to some. */
async function refuseGaps(
  archive: OpenArchive,
  entries: readonly ZipEntry[],
  directoryStart: number,
): Promise<void> {
  const inOrder = entries.toSorted((a, b) => a.headerStart - b.headerStart);
  let free = 0;
  for (const [index, entry] of inOrder.entries()) {
    if (entry.headerStart !== free) throw gap();
    free = inOrder[index + 1]?.headerStart ?? directoryStart;
    const end = entry.contentStart + entry.contentBytes;
    if (!(await isDescriptor(archive, entry, end, free - end))) throw gap();
  }
}

/**
 * Whether `length` bytes after a content are its data descriptor, with or without signature, of 32 or 64 bits, or none where none belongs. Its
 * CRC is looked at with the content.
 */
async function isDescriptor(
  archive: OpenArchive,
  { hasDescriptor, contentBytes, size }: ZipEntry,
  start: number,
  length: number,
): Promise<boolean> {
  if (!hasDescriptor) return length === 0;
  if (![12, 16, 20, 24].includes(length)) return false;
  const bytes = await readBytes(archive, start, length);
  const isSigned = length % 8 === 0;
  const fields = bytes.subarray(isSigned ? 4 : 0);
  const isLong = fields.length === 20;
  const sizeAt = (at: number) =>
    isLong ? Number(fields.readBigUInt64LE(at)) : fields.readUInt32LE(at);
  return (
    (!isSigned || bytes.readUInt32LE(0) === 0x08074b50) &&
    sizeAt(4) === contentBytes &&
    sizeAt(isLong ? 12 : 8) === size
  );
}

function gap(): ArchiveRefused {
  return new ArchiveRefused("it has bytes that belong to no member");
}

function decode(text: Buffer): string {
  if (!isUtf8(text)) throw new ArchiveRefused("a name is not UTF-8");
  return text.toString("utf8");
}
