import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { InputInvalid } from "../../errors/index.ts";

/** Bytes of a lock file, configuration file or list; generated ones are far smaller. */
const most = 8 * 1024 * 1024;

/** The text of a file that a command was given; throws InputInvalid. */
export async function readInputFile(path: string): Promise<string> {
  try {
    // Not waiting for the writer of a pipe.
    await using file = await open(
      path,
      constants.O_RDONLY | constants.O_NONBLOCK,
    );
    const stat = await file.stat();
    if (!stat.isFile()) throw new Error("it is not a file");
    expectFair(stat.size);
    return decode(await file.readFile());
  } catch (error) {
    throw unreadable(path, error);
  }
}

/** The text of a file that is here already; throws InputInvalid. */
export function readInputBytes(path: string, bytes: Uint8Array): string {
  try {
    expectFair(bytes.length);
    return decode(bytes);
  } catch (error) {
    throw unreadable(path, error);
  }
}

function expectFair(size: number): void {
  if (size > most) throw new Error(`it has more than ${most} bytes`);
}

function decode(bytes: Uint8Array): string {
  const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  return text.decode(bytes);
}

export function unreadable(path: string, error: unknown): InputInvalid {
  const { code, message } = error as NodeJS.ErrnoException;
  return new InputInvalid(
    path,
    `it cannot be read (${code ?? message}): check the path and its permissions.`,
    {
      cause: error,
    },
  );
}
