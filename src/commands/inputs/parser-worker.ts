import { constants } from "node:fs";
import { createRequire } from "node:module";
import { setFlagsFromString } from "node:v8";
import { failure, type Failure, isFailure } from "../../errors/index.ts";
import { readLocks } from "./dependency-lock-file.ts";
import { notUtf8 } from "./input-file.ts";
import type { ParserAnswer, ParserTask } from "./parser.ts";
import { readDeclarations, readTestCalls } from "./required-providers.ts";

export default async function answer({
  kind,
  path,
  text,
}: ParserTask): Promise<ParserAnswer> {
  try {
    const isJson = kind !== "locks" && path.endsWith(".json");
    const root = isJson ? parseJson(path, text) : await parseHcl(path, text);
    if (!isJson) expectUtf8(path, text, root);
    const { problems, ...content } = readers[kind](path, text, root);
    return { content, problems: problems.map(asProblem) };
  } catch (error) {
    if (!isFailure(error, "input")) throw error;
    const nothing = { required: [], implied: [], calls: [], locks: [] };
    return { content: nothing, problems: [asProblem(error)] };
  }
}

const readers = {
  configuration: readDeclarations,
  tests: readTestCalls,
  locks: readLocks,
};

function asProblem({ where, problem, remedy }: Failure<"input">) {
  return [where, problem, remedy] as const;
}

/** Strings of HCL have to be UTF-8; in JSON, clients replace what is not. */
function expectUtf8(path: string, text: string, root: unknown): void {
  if (!text.includes(notUtf8) || !JSON.stringify(root).includes(notUtf8))
    return;
  const line = text.split("\n").findIndex((one) => /["<].*\uFFFF/.test(one));
  const where = line < 0 ? path : `${path}:${line + 1}`;
  throw failure("input", where, "it is not UTF-8", "save it as that");
}

function parseJson(path: string, text: string): unknown {
  try {
    return JSON.parse(text.replace(/^\uFEFF/, "")) as unknown;
  } catch (cause) {
    const where = `${path}:${lineOfJsonError(text, cause as Error)}`;
    throw failure("input", where, "it is not JSON", "correct it", { cause });
  }
}

/** The parser names no line when it stops at the very start or end. Its message quotes the file, and is not told. */
function lineOfJsonError(text: string, { message }: Error): number {
  const [, line] = /\(line (\d+)/.exec(message) ?? [];
  if (line !== undefined) return Number(line);
  return message.includes("end of JSON") ? text.split("\n").length : 1;
}

/** Its own type declarations bring those of the DOM with them, which contradict Node's. */
interface HclParser {
  readonly parse: (name: string, text: string) => Promise<unknown>;
}

let hcl: HclParser | undefined;

/** The heap limit of a thread does not count the memory of WebAssembly; in pages of 64 KiB. */
const mostMemory = "--wasm-max-mem-pages=8192";

function startHcl(): HclParser {
  setFlagsFromString(mostMemory);
  // A Go program that fails writes its stack to standard error, then warns of its exit code, and never answers.
  const fs = {
    constants,
    writeSync: (_: number, bytes: Uint8Array) => bytes.length,
  };
  Object.defineProperty(globalThis, "fs", {
    get: () => fs,
    set: () => undefined,
  });
  console.warn = () => process.exit(1);
  // The bundle of the released program looks for these two lines.
  const require = createRequire(import.meta.url);
  return require("@cdktn/hcl2json") as HclParser;
}

/** HCL's own parser, compiled to WebAssembly, which takes 0.2 s to start. */
async function parseHcl(path: string, text: string): Promise<unknown> {
  hcl ??= startHcl();
  const { parse } = hcl;
  try {
    return await parse("x.tf", text);
  } catch (cause) {
    throw describeHclError(path, cause as Error);
  }
}

/**
 * Says where and what of the parser's `parse config: [x.tf:LINE,COLUMN-COLUMN:
 * SUMMARY; DETAIL and …]`. Details quote the file, and are not told.
 */
function describeHclError(path: string, cause: Error): Failure<"input"> {
  const [, line, summary] =
    /\bx\.tf:(\d+),\d+(?:-[\d,]+)?: ([\w ,'-]+)/.exec(cause.message) ?? [];
  return line === undefined || summary === undefined
    ? failure("input", path, "it cannot be parsed", "correct it", { cause })
    : failure("input", `${path}:${line}`, summary, "correct it", { cause });
}
