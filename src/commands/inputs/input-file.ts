import { constants } from "node:fs";
import { open } from "node:fs/promises";
import {
  failure,
  type Failure,
  isFailure,
  ProvenderError,
} from "../../errors/index.ts";

/** Bytes of a lock file, configuration file or list; generated ones are far smaller. */
const most = 1024 * 1024;

/** The text of a file that a command was given. */
export async function readInputFile(path: string): Promise<string> {
  try {
    // Not waiting for the writer of a pipe.
    const flags = constants.O_RDONLY | constants.O_NONBLOCK;
    await using file = await open(path, flags);
    const stat = await file.stat();
    if (!stat.isFile())
      throw failure("input", path, "it is not a file", "give the path of one");
    expectFair(path, stat.size);
    return readInputBytes(path, await file.readFile());
  } catch (error) {
    throw unreadable(path, error);
  }
}

/**
 * The text of a file that is here already. Clients take any encoding in comments, and no address or hash has what
 * stands for it here.
 */
export function readInputBytes(path: string, bytes: Uint8Array): string {
  expectFair(path, bytes.length);
  return new TextDecoder().decode(bytes);
}

function expectFair(path: string, size: number): void {
  const problem = `it has ${size} bytes, expected at most ${most}`;
  if (size > most)
    throw failure("input", path, problem, "look which file this is");
}

/** Converts a system error to an input error, and returns an input error unchanged. */
export function unreadable(path: string, error: unknown): Failure<"input"> {
  if (isFailure(error, "input")) return error;
  if (error instanceof ProvenderError) throw error;
  const { code, message } = error as NodeJS.ErrnoException;
  const problem = `it cannot be read (${code ?? message})`;
  const remedy = "check the path and its permissions";
  return failure("input", path, problem, remedy, { cause: error });
}

/** Adds what is wrong with an input, or with an address in it, to the problems; it is not quoted, since a link may lead to a secret. */
export function noteProblem(
  problems: Failure<"input">[],
  where: string,
  error: unknown,
): void {
  if (isFailure(error, "input")) problems.push(error);
  else if (isFailure(error, "malformed-address"))
    problems.push(
      failure("input", where, `this is not a ${error.what}`, error.remedy),
    );
  else throw error;
}
