import { createHash } from "node:crypto";
import { parsePackageHash, type PackageHash } from "../../address/hash.ts";
import { ArchiveRefused, type ArchiveLimits } from "./limits.ts";
import type { OpenArchive } from "./open-archive.ts";
import { readZipContent } from "./zip-content.ts";
import { readZipDirectory, type ZipEntry } from "./zip-directory.ts";

/**
 * The h1 of a package: Go's dirhash with Hash1 (golang.org/x/mod/sumdb/dirhash). Clients compare it with an archive
 * (HashZip) and with what they unpacked of it (HashDir), so there is none where the two differ.
 */
export async function hashPackage(
  archive: OpenArchive,
  limits: ArchiveLimits,
): Promise<PackageHash> {
  const entries = await readZipDirectory(archive, limits);
  entries.forEach(refuseUnhashable);
  const sorted = entries.toSorted((a, b) =>
    a.fileNameRaw.compare(b.fileNameRaw),
  );
  const isTwice = ({ fileNameRaw: name }: ZipEntry, at: number) =>
    sorted[at + 1]?.fileNameRaw.equals(name);
  if (sorted.some(isTwice))
    throw new ArchiveRefused("two entries have one name");
  const sum = createHash("sha256");
  for (const entry of sorted) {
    const sha256 = createHash("sha256");
    await readZipContent(archive, entry, (bytes) => sha256.update(bytes));
    sum
      .update(`${sha256.digest("hex")}  `)
      .update(entry.fileNameRaw)
      .update("\n");
  }
  return parsePackageHash(`h1:${sum.digest("base64")}`);
}

function refuseUnhashable(entry: ZipEntry): void {
  const { fileNameRaw: name, externalFileAttributes: attributes } = entry;
  // Unpacked directories have no line in h1, and DOS and Unix attributes can make one without a slash.
  const unixDirectory = attributes >>> 28 === 4;
  const dosDirectory = (attributes & 0x10) !== 0;
  if (name.at(-1) === 0x2f || unixDirectory || dosDirectory)
    throw new ArchiveRefused("it has an entry for a directory");
  if (name.includes("\n"))
    throw new ArchiveRefused("an entry has a newline in its name");
  if (/(?:^|\/)\.{0,2}(?:\/|$)/.test(name.toString("latin1")))
    throw new ArchiveRefused(
      "the name of an entry is not where it is unpacked",
    );
}
