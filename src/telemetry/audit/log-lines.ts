import type { FileHandle } from "node:fs/promises";

export interface LogLine {
  /** Without the newline. */
  readonly bytes: Buffer;
  /** False for what a newline does not follow: the end of the file, or of a piece of a line that is too long to be one. */
  readonly isEnded: boolean;
}

/** The object that a line is in JSON; undefined for any other line. */
export function readObject(line: string): object | undefined {
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
export async function* readLogLines(
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
