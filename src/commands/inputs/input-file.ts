import { isUtf8 } from "node:buffer";
import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { z } from "zod";
import { failure, type Failure, isFailure } from "../../errors/index.ts";

/** Bytes of a lock file, configuration file or list; generated ones are far smaller. */
const most = 1024 * 1024;

/** The text of a file that a command was given; throws an input error. */
export async function readInputFile(path: string): Promise<string> {
  try {
    // Not waiting for the writer of a pipe.
    await using file = await open(
      path,
      constants.O_RDONLY | constants.O_NONBLOCK,
    );
    const stat = await file.stat();
    if (!stat.isFile())
      throw failure("input", path, "it is not a file", "give the path of one");
    expectFair(path, stat.size);
    return decode(await file.readFile());
  } catch (error) {
    throw unreadable(path, error);
  }
}

/** File that a command was given: its text, or why it cannot be read. */
export const inputText = z.union([
  z.object({ path: z.string(), text: z.string() }),
  z.object({ path: z.string(), problem: z.string(), remedy: z.string() }),
]);

export type InputText = Readonly<z.infer<typeof inputText>>;

/** Reads a file for a verb that may run where the file cannot be read. */
export async function takeInput(path: string): Promise<InputText> {
  try {
    return { path, text: await readInputFile(path) };
  } catch (error) {
    if (!isFailure(error, "input")) throw error;
    const { problem, remedy = "" } = error;
    return { path, problem, remedy };
  }
}

/** The text of a file that was read; throws an input error. */
export function textOf(input: InputText): string {
  if ("text" in input) return input.text;
  throw failure("input", input.path, input.problem, input.remedy);
}

/** The text of a file that is here already; throws an input error. */
export function readInputBytes(path: string, bytes: Uint8Array): string {
  expectFair(path, bytes.length);
  return decode(bytes);
}

function expectFair(path: string, size: number): void {
  if (size > most)
    throw failure(
      "input",
      path,
      `it has ${size} bytes, expected at most ${most}`,
      "look which file this is",
    );
}

/** Stands for what is not UTF-8; no text has this character. */
export const notUtf8 = "\uFFFF";

/** Clients care for the encoding of strings alone, not for that of comments. */
function decode(bytes: Uint8Array): string {
  const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
  return isUtf8(bytes) ? text : text.replaceAll("\uFFFD", notUtf8);
}

/**
 * Converts a system error to an input error, and returns an input error
 * unchanged.
 */
export function unreadable(path: string, error: unknown): Failure<"input"> {
  if (isFailure(error, "input")) return error;
  const { code, message } = error as NodeJS.ErrnoException;
  return failure(
    "input",
    path,
    `it cannot be read (${code ?? message})`,
    "check the path and its permissions",
    { cause: error },
  );
}
