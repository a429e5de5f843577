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
    if (stat.size > most) throw new Error(`it has more than ${most} bytes`);
    const bytes = await file.readFile();
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(
      bytes,
    );
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new InputInvalid(path, `it cannot be read (${code ?? message}).`, {
      cause: error,
    });
  }
}
