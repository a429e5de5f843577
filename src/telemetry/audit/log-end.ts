import { emptyChain, headAt, type ChainHead } from "./chain.ts";
import { closeLogFiles, openLogFiles, type LogFile } from "./log-files.ts";
import { readLogLines } from "./log-lines.ts";

/** Bytes in which the last line is looked for; each line is shorter. */
const tailSize = 2 ** 18;

/** Finds where the chain of a log stands, by its last chained line. */
export async function findLogEnd(
  path: string,
  keep: number,
): Promise<ChainHead> {
  const files = await openLogFiles(path, keep);
  try {
    for (const file of files.toReversed()) {
      const head = (await readLastLine(file)) ?? (await scan(file));
      if (head !== undefined) return head;
    }
    return emptyChain;
  } finally {
    await closeLogFiles(files);
  }
}

async function readLastLine({
  handle,
  size,
}: LogFile): Promise<ChainHead | undefined> {
  const length = Math.min(size, tailSize);
  const tail = Buffer.alloc(length);
  await handle.read(tail, 0, length, size - length);
  if (tail.at(-1) !== 0x0a) return undefined;
  const text = tail.subarray(0, -1);
  return headAt(text.subarray(text.lastIndexOf("\n") + 1));
}

/** Reads a whole file whose last line is not chained. */
async function scan({ handle, size }: LogFile): Promise<ChainHead | undefined> {
  let head: ChainHead | undefined;
  for await (const lines of readLogLines(handle, size))
    for (const { bytes, isEnded } of lines)
      head = (isEnded ? headAt(bytes) : undefined) ?? head;
  return head;
}
