import { createHash } from "node:crypto";
import { failure } from "../../errors/index.ts";
import { parsePackageHash, type PackageHash } from "../../address/hash.ts";
import { ArchiveRefused, type ArchiveLimits } from "./limits.ts";
import type { OpenArchive } from "./open-archive.ts";
import { readZipContent } from "./zip-content.ts";
import { readZipDirectory, type ZipEntry } from "./zip-directory.ts";

/** The h1 of a package: Go's dirhash.HashZip with Hash1 (golang.org/x/mod/sumdb/dirhash). */
export async function hashPackage(
  archive: OpenArchive,
  limits: ArchiveLimits,
): Promise<PackageHash> {
  try {
    const entries = await readZipDirectory(archive, limits);
    entries.forEach(refuseUnhashable);
    return combine(entries, await hashContents(archive, entries));
  } catch (error) {
    throw asVerdict(error);
  }
}

/** Hash1: a line for each entry, also for those of one name, sorted by the name's bytes. */
function combine(
  entries: readonly ZipEntry[],
  contents: ReadonlyMap<string, string>,
): PackageHash {
  const sum = createHash("sha256");
  for (const { name } of entries.toSorted((a, b) => a.name.compare(b.name))) {
    sum.update(`${contents.get(keyOf(name)) ?? ""}  `);
    sum.update(name);
    sum.update("\n");
  }
  return parsePackageHash(`h1:${sum.digest("base64")}`);
}

/** SHA-256 in hexadecimal by name; of several entries of one name only the last is read, as HashZip does. */
async function hashContents(
  archive: OpenArchive,
  entries: readonly ZipEntry[],
): Promise<ReadonlyMap<string, string>> {
  const last = new Map(entries.map((entry) => [keyOf(entry.name), entry]));
  const contents = new Map<string, string>();
  for (const [key, entry] of last) {
    const sha256 = createHash("sha256");
    await readZipContent(archive, entry, (bytes) => sha256.update(bytes));
    contents.set(key, sha256.digest("hex"));
  }
  return contents;
}

function refuseUnhashable({ name, attributes }: ZipEntry): void {
  // Unpacked directories have no line in h1, and DOS and Unix attributes can make one without a slash.
  const unixDirectory = attributes >>> 28 === 4;
  const dosDirectory = (attributes & 0x10) !== 0;
  if (name.at(-1) === 0x2f || unixDirectory || dosDirectory)
    throw new ArchiveRefused("it has an entry for a directory");
  if (name.includes("\n"))
    throw new ArchiveRefused("an entry has a newline in its name");
}

function keyOf(name: Buffer): string {
  return name.toString("latin1");
}

/**
 * Converts errors of zlib and yauzl to archive-unhashable, as they are about the
 * archive. System errors are returned unchanged.
 */
function asVerdict(error: unknown): unknown {
  if (error instanceof ArchiveRefused)
    return failure("archive-unhashable", "The archive", error.message);
  if (!(error instanceof Error) || error.constructor !== Error) return error;
  const code = "code" in error ? String(error.code) : "Z_";
  if (!code.startsWith("Z_")) return error;
  const reason = error.message.split(/[.?](?: |$)/)[0] ?? "";
  return failure("archive-unhashable", "The archive", reason, { cause: error });
}
