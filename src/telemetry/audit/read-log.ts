import type { AuditEntry } from "../audit-entry.ts";
import { closeLogFiles, filesKept, openLogFiles } from "./log-files.ts";
import { readLogLines, readObject } from "./log-lines.ts";

/** Log as its readers see it beside processes that append to it. */
export interface LogToRead {
  /** The current file. */
  readonly path: string;
  /** Does the work while no process appends. */
  readonly exclusively: <T>(work: () => Promise<T>) => Promise<T>;
  /** Older files; 8. */
  readonly keep?: number | undefined;
}

/** An entry of this version or an earlier one. */
export interface WrittenEntry {
  /** Entry as it was written, one object of JSON in ASCII. */
  readonly json: string;
  readonly fields: Readonly<
    Partial<Record<keyof AuditEntry | "at", string | number>>
  >;
}

/**
 * Yields the entries of a log, oldest first, up to its end at the start of the
 * call; other lines, and those that are not wanted by their bytes, are skipped.
 */
export async function* readEntries(
  { path, exclusively, keep = filesKept }: LogToRead,
  isWanted: (line: Buffer) => boolean = () => true,
): AsyncGenerator<WrittenEntry, undefined> {
  const files = await exclusively(() => openLogFiles(path, keep));
  try {
    for (const { handle, size } of files)
      for await (const lines of readLogLines(handle, size))
        for (const { bytes } of lines) {
          if (!isWanted(bytes)) continue;
          const entry = parse(bytes.toString("latin1"));
          if (entry !== undefined) yield entry;
        }
  } finally {
    await closeLogFiles(files);
  }
}

function parse(json: string): WrittenEntry | undefined {
  const value = readObject(json);
  return value && "event" in value && /^[\x20-\x7e]*$/.test(json)
    ? { json, fields: value as WrittenEntry["fields"] }
    : undefined;
}
