import { type FileHandle, open } from "node:fs/promises";
import type { AuditEntry } from "./audit-entry.ts";

/** An entry of this version or an earlier one. */
export interface WrittenEntry {
  /** Entry as it was written, one object of JSON in ASCII. */
  readonly json: string;
  readonly fields: Readonly<
    Partial<Record<keyof AuditEntry | "at", string | number>>
  >;
}

/**
 * Yields the entries of the log whose current file is `path`, oldest first, up to its end at the start of the call; other
 * lines, and those that are not wanted by their bytes, are skipped.
 */
export async function* readEntries(
  path: string,
  isWanted: (line: Buffer) => boolean = () => true,
): AsyncGenerator<WrittenEntry, undefined> {
  const files = await openLogFiles(path);
  try {
    for (const file of files)
      for await (const lines of readLines(file))
        for (const line of lines) {
          if (!isWanted(line)) continue;
          const entry = parse(line.toString("latin1"));
          if (entry !== undefined) yield entry;
        }
  } finally {
    await Promise.all(files.map(({ handle }) => handle.close()));
  }
}

/** Undefined for a line that no log wrote. */
function parse(json: string): WrittenEntry | undefined {
  try {
    const value: unknown = JSON.parse(json);
    const isEntry =
      typeof value === "object" && value !== null && "event" in value;
    return isEntry && /^[\x20-\x7e]*$/.test(json)
      ? { json, fields: value as WrittenEntry["fields"] }
      : undefined;
  } catch {
    return undefined;
  }
}

/** A file of a log as it was when it was opened. */
interface LogFile {
  readonly handle: FileHandle;
  /** Bytes. */
  readonly size: number;
}

const chunkSize = 2 ** 18;

/** Bytes of a piece of what no log would write as one line. */
const longestLine = 2 ** 20;

/** Lines without their newlines, some at a time, in memory that does not grow with the file. */
async function* readLines({
  handle,
  size,
}: LogFile): AsyncGenerator<readonly Buffer[], undefined> {
  let rest = Buffer.alloc(0);
  for (let at = 0; at < size;) {
    const chunk = Buffer.alloc(Math.min(chunkSize, size - at));
    const { bytesRead } = await handle.read(chunk, 0, chunk.length, at);
    if (bytesRead === 0) break;
    at += bytesRead;
    rest = Buffer.concat([rest, chunk.subarray(0, bytesRead)]);
    const lines: Buffer[] = [];
    let start = 0;
    for (let end = 0; (end = rest.indexOf("\n", start)) >= 0; start = end + 1)
      lines.push(rest.subarray(start, end));
    rest = rest.subarray(start);
    if (rest.length > longestLine) {
      lines.push(rest);
      rest = Buffer.alloc(0);
    }
    yield lines;
  }
  yield [rest];
}

/** Older files that a log keeps by default. */
export const filesKept = 8;

/** The files of a log that are there, oldest first. They are opened newest first, so that none is missed that moves aside meanwhile, but seen twice. */
async function openLogFiles(path: string): Promise<readonly LogFile[]> {
  const files = new Map<number, LogFile>();
  for (let number = 0; number <= filesKept; number++) {
    const handle = await openIfThere(number === 0 ? path : `${path}.${number}`);
    if (handle === undefined) continue;
    const { ino, size } = await handle.stat();
    if (files.has(ino)) await handle.close();
    else files.set(ino, { handle, size });
  }
  return [...files.values()].toReversed();
}

async function openIfThere(path: string): Promise<FileHandle | undefined> {
  try {
    return await open(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}
