import { createRequire } from "node:module";
import { inTime } from "../../concurrency/in-time.ts";
import { failure, type Failure, isFailure } from "../../errors/index.ts";
import {
  readDeclarations,
  type FileDeclarations,
} from "./required-providers.ts";

/** Milliseconds for one file; the parser takes a second for a million lines. */
const patience = 20_000;

/**
 * The declarations of one `.tf`, `.tofu`, `.tf.json` or `.tofu.json` file, which messages call `path`; what is wrong with it is
 * among the problems. `read` throws an input error.
 */
export async function readConfigurationFile(
  path: string,
  read: () => Promise<string>,
): Promise<FileDeclarations> {
  try {
    const text = await read();
    const root = path.endsWith(".json")
      ? parseJsonSyntax(path, text)
      : await parseNativeSyntax(path, text);
    return readDeclarations(path, text, root);
  } catch (error) {
    if (!isFailure(error, "input")) throw error;
    return { required: [], implied: [], calls: [], problems: [error] };
  }
}

function parseJsonSyntax(path: string, text: string): unknown {
  try {
    return JSON.parse(text.replace(/^\uFEFF/, "")) as unknown;
  } catch (error) {
    const { message } = error as Error;
    throw failure(
      "input",
      `${path}:${lineOfJsonError(text, message)}`,
      `it is not JSON (${message.replaceAll(/\s+/g, " ")})`,
      "correct it",
      { cause: error },
    );
  }
}

/** The parser names no line when it stops at the very start or end. */
function lineOfJsonError(text: string, message: string): number {
  const [, line] = /\(line (\d+)/.exec(message) ?? [];
  if (line !== undefined) return Number(line);
  return message.includes("end of JSON") ? text.split("\n").length : 1;
}

/**
 * Parses with HCL's own parser, compiled to WebAssembly. It takes 0.2 s to
 * start, so only native syntax waits for it.
 */
export async function parseNativeSyntax(
  path: string,
  text: string,
): Promise<unknown> {
  if (deepestNesting(text) > mostNesting)
    throw failure(
      "input",
      path,
      `it cannot be parsed (brackets are nested more than ${mostNesting} deep)`,
      "check which file this is",
    );
  const { parse } = require("@cdktn/hcl2json") as NativeSyntaxParser;
  try {
    return await inTime(parse(fileNameInErrors, text), patience, () => {
      throw new Error("it takes too long to parse");
    });
  } catch (error) {
    throw describeSyntaxError(path, error as Error);
  }
}

/** Deeper nesting exhausts the parser's stack, after which it answers nothing. */
const mostNesting = 500;

/** Brackets in texts and comments count too; there they are balanced or few. */
function deepestNesting(text: string): number {
  let depth = 0;
  let deepest = 0;
  for (const [bracket] of text.matchAll(/[[\](){}]/g)) {
    depth += "[({".includes(bracket) ? 1 : -1;
    deepest = Math.max(deepest, depth);
  }
  return deepest;
}

const fileNameInErrors = "x.tf";
const require = createRequire(import.meta.url);

/** Its own type declarations bring those of the DOM with them, which contradict Node's. */
interface NativeSyntaxParser {
  readonly parse: (name: string, text: string) => Promise<unknown>;
}

/**
 * Converts the parser's `parse config: [x.tf:LINE,COLUMN-COLUMN: SUMMARY;
 * DETAIL]`, whose range may span lines.
 */
function describeSyntaxError(path: string, error: Error): Failure<"input"> {
  const [, line, problem] =
    /\bx\.tf:(\d+),\d+(?:-[\d,]+)?: ([^]*?)\]?$/.exec(error.message) ?? [];
  return line === undefined
    ? failure(
        "input",
        path,
        `it cannot be parsed (${error.message})`,
        "correct it",
      )
    : failure("input", `${path}:${line}`, nameLines(problem), "correct it");
}

/** Further problems of the file follow with ranges of their own. */
function nameLines(problems = ""): string {
  return problems.replaceAll(/\bx\.tf:(\d+),\d+(?:-[\d,]+)?/g, "line $1");
}
