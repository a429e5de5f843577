import { failure } from "../errors/index.ts";

/** Archive formats of a module's files. */
export const archiveFormats = ["tar.gz", "tar.bz2", "tar.xz", "zip"] as const;

export type ArchiveFormat = (typeof archiveFormats)[number];

/** The endings by which go-getter knows an archive of many files. */
const formats: ReadonlyMap<string, ArchiveFormat> = new Map([
  ...archiveFormats.map((format) => [format, format] as const),
  ["tgz", "tar.gz"],
  ["tbz2", "tar.bz2"],
  ["tar.tbz2", "tar.bz2"],
  ["txz", "tar.xz"],
]);

/** The format that `archive=` names. */
export function findArchiveFormat(ending: string): ArchiveFormat | undefined {
  return formats.get(ending);
}

export function findFormatOfPath(path: string): ArchiveFormat | undefined {
  for (const [ending, format] of formats)
    if (path.endsWith(`.${ending}`)) return format;
  return undefined;
}

/** The name under which the mirror serves a module's archive; clients unpack by its ending. */
export function formatModuleArchiveName(format: ArchiveFormat): string {
  return `archive.${format}`;
}

export function parseModuleArchiveName(name: string): ArchiveFormat {
  const format = archiveFormats.find(
    (one) => name === formatModuleArchiveName(one),
  );
  if (format === undefined)
    throw failure(
      "malformed-address",
      "archive of a module",
      name,
      "archive.tar.gz, archive.tar.bz2, archive.tar.xz or archive.zip",
    );
  return format;
}
