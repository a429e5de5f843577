import { type FileHandle, open } from "node:fs/promises";
import { basename } from "node:path";
import type { AuditEntry } from "../audit-entry.ts";

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

interface LogLine {
  /** Without the newline. */
  readonly bytes: Buffer;
  /** False for what a newline does not follow: the end of the file, or of a piece of a line that is too long to be one. */
  readonly isEnded: boolean;
}

/** The object that a line is in JSON; undefined for any other line. */
function readObject(line: string): object | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === "object" && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

const chunkSize = 2 ** 18;

/** Bytes of a piece of what no log would write as one line. */
const longestLine = 2 ** 20;

const newline = 0x0a;

/** Reads the lines in the first `size` bytes of a file, some at a time, in memory that does not grow with it. */
async function* readLogLines(
  file: FileHandle,
  size: number,
): AsyncGenerator<readonly LogLine[]> {
  let rest = Buffer.alloc(0);
  for (let at = 0; at < size;) {
    const chunk = Buffer.alloc(Math.min(chunkSize, size - at));
    const { bytesRead } = await file.read(chunk, 0, chunk.length, at);
    if (bytesRead === 0) break;
    at += bytesRead;
    const lines: LogLine[] = [];
    rest = splitInto(
      lines,
      Buffer.concat([rest, chunk.subarray(0, bytesRead)]),
    );
    if (rest.length > longestLine) {
      lines.push({ bytes: rest, isEnded: false });
      rest = Buffer.alloc(0);
    }
    yield lines;
  }
  if (rest.length > 0) yield [{ bytes: rest, isEnded: false }];
}

/** Returns what follows the last newline. */
function splitInto(lines: LogLine[], bytes: Buffer<ArrayBuffer>) {
  let start = 0;
  for (;;) {
    const end = bytes.indexOf(newline, start);
    if (end < 0) return bytes.subarray(start);
    lines.push({ bytes: bytes.subarray(start, end), isEnded: true });
    start = end + 1;
  }
}

/** A file of a log as it was when it was opened. */
interface LogFile {
  readonly name: string;
  /** 0 for the current file, 1 for the one that moved aside last, and so on. */
  readonly number: number;
  readonly handle: FileHandle;
  /** Bytes. */
  readonly size: number;
}

/** Older files that a log keeps by default. */
export const filesKept = 8;

/** The files of a log that are there, oldest first. What has nothing in it is left out. */
async function openLogFiles(
  path: string,
  keep: number,
): Promise<readonly LogFile[]> {
  const files: LogFile[] = [];
  for (let number = keep; number >= 0; number--) {
    const file = number === 0 ? path : `${path}.${number}`;
    const handle = await openIfThere(file);
    if (handle === undefined) continue;
    const { size } = await handle.stat();
    if (size > 0) files.push({ name: basename(file), number, handle, size });
    else await handle.close();
  }
  return files;
}

async function closeLogFiles(files: readonly LogFile[]): Promise<void> {
  await Promise.all(files.map(({ handle }) => handle.close()));
}

async function openIfThere(path: string): Promise<FileHandle | undefined> {
  try {
    return await open(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}
