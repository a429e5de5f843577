import {
  emptyChain,
  readLink,
  sha256Of,
  type ChainHead,
  type Gap,
} from "./chain.ts";
import { closeLogFiles, openLogFiles, type LogFile } from "./log-files.ts";
import { readLogLines } from "./log-lines.ts";
import { UnchainedRun } from "./unchained-run.ts";

/** What the next line of a log follows. */
export interface LogEnd {
  readonly head: ChainHead;
  readonly gap: Gap | undefined;
}

interface FoundEnd extends LogEnd {
  /** True when the newest file has a chained line. */
  readonly isBegun: boolean;
}

/** Bytes in which the last line is looked for; each line is shorter. */
const tailSize = 2 ** 18;

/** Reads the last line only, wherever that is a chained one; else the newest file, or where no line of it is chained all of them. */
export async function findLogEnd(
  path: string,
  keep: number,
): Promise<FoundEnd> {
  const end = await withFiles(path, Math.min(keep, 1), findInNewest);
  if (end !== undefined) return { ...end, isBegun: true };
  return { ...(await withFiles(path, keep, scan)), isBegun: false };
}

async function withFiles<T>(
  path: string,
  keep: number,
  read: (files: readonly LogFile[]) => Promise<T>,
): Promise<T> {
  const files = await openLogFiles(path, keep);
  try {
    return await read(files);
  } finally {
    await closeLogFiles(files);
  }
}

async function findInNewest(
  files: readonly LogFile[],
): Promise<LogEnd | undefined> {
  const newest = files.at(-1);
  if (newest === undefined) return undefined;
  const head = await readLastLine(newest);
  if (head !== undefined) return { head, gap: undefined };
  const end = await scan([newest]);
  return end.head.size > 0 ? end : undefined;
}

async function readLastLine({
  handle,
  size,
}: LogFile): Promise<ChainHead | undefined> {
  const length = Math.min(size, tailSize);
  const tail = Buffer.alloc(length);
  await handle.read(tail, 0, length, size - length);
  const text = tail.at(-1) === 0x0a ? tail.subarray(0, -1) : tail;
  const line = text.subarray(text.lastIndexOf("\n") + 1);
  return length < size && line.length === text.length
    ? undefined
    : headAt(line);
}

async function scan(files: readonly LogFile[]): Promise<LogEnd> {
  const run = new UnchainedRun();
  let head = emptyChain;
  for (const file of files)
    for await (const lines of readLogLines(file.handle, file.size))
      for (const line of lines) {
        const chained = headAt(line.bytes);
        if (chained === undefined) run.add(file, line);
        else run.take();
        head = chained ?? head;
      }
  return { head, gap: run.take() };
}

function headAt(line: Buffer): ChainHead | undefined {
  const link = readLink(line);
  return link && { size: link.seq, sha256: sha256Of(line) };
}
