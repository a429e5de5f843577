import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import { extract, type Extract, type Header } from "tar-stream";
import { ArchiveRefused, refuseBomb, type ArchiveLimits } from "./limits.ts";
import type { ArchiveMember, Visit } from "./members.ts";
import { readPieces, type OpenArchive } from "./open-archive.ts";

/**
 * Header of a member as tar-stream parses it, with fields that its types omit.
 */
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

/**
 * Reads the members of a tar.gz. Throws ArchiveRefused, and errors of zlib and
 * tar-stream.
 */
export async function readTarMembers(
  archive: OpenArchive,
  limits: ArchiveLimits,
  visit: Visit,
): Promise<void> {
  const reader = extract(options);
  const results = await Promise.allSettled([
    readEntries(reader, visit),
    pipeline(
      readPieces(archive, 0, archive.size),
      createGunzip({ chunkSize: 1 << 16 }),
      (pieces: AsyncIterable<Buffer>) => bound(pieces, archive.size, limits),
      reader,
    ),
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
