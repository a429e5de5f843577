import { closeSync, fstatSync, openSync, readSync } from "node:fs";

/** The UTF-8 text of a file of at most `limit` bytes, and the permission bits of what was opened. */
export function readTextFile(
  path: string,
  limit: number,
): { readonly text: string; readonly mode: number } {
  const descriptor = openSync(path, "r");
  try {
    const mode = fstatSync(descriptor).mode & 0o777;
    return { text: decode(readAtMost(descriptor, limit)), mode };
  } finally {
    closeSync(descriptor);
  }
}

/** The system's word for what went wrong, such as ENOENT, else the message. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return (error as NodeJS.ErrnoException).code ?? error.message;
}

function readAtMost(descriptor: number, limit: number): Buffer {
  const buffer = Buffer.alloc(limit + 1);
  let filled = 0;
  for (;;) {
    const read = readSync(descriptor, buffer, filled, limit + 1 - filled, null);
    filled += read;
    if (filled > limit) throw new Error(`more than ${limit} bytes`);
    if (read === 0) return buffer.subarray(0, filled);
  }
}

function decode(bytes: Buffer): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (error) {
    throw new Error("not UTF-8 text", { cause: error });
  }
}
