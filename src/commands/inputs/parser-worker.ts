import { constants } from "node:fs";
import { createRequire } from "node:module";
import { setFlagsFromString } from "node:v8";
import { failure, type Failure, isFailure } from "../../errors/index.ts";
import { readDeclarations } from "./declarations.ts";
import { readLocks } from "./dependency-lock-file.ts";
import type { ParserAnswer, ParserTask } from "./parser.ts";

const readers = { configuration: readDeclarations, locks: readLocks };

export default async function answer(task: ParserTask): Promise<ParserAnswer> {
  const { kind, path, text } = task;
  try {
    const root = await parse(task);
    const { problems, ...content } = readers[kind](path, text, root);
    return { content, problems: problems.map(asProblem) };
  } catch (error) {
    if (!isFailure(error, "input")) throw error;
    const nothing = { required: [], calls: [], locks: [] };
    return { content: nothing, problems: [asProblem(error)] };
  }
}

function asProblem({ where, problem, remedy }: Failure<"input">) {
  return [where, problem, remedy] as const;
}

async function parse({ kind, path, text }: ParserTask): Promise<unknown> {
  const isJson = kind !== "locks" && path.endsWith(".json");
  try {
    return isJson ? JSON.parse(text) : await parseHcl(text);
  } catch (error) {
    throw describe(path, error as Error, isJson ? "it is not JSON" : "");
  }
}

/**
 * Says where and what of the parsers' `… (line LINE column COLUMN)` and `parse
 * config: [x.tf:LINE,COLUMN-COLUMN: SUMMARY; DETAIL and …]`. The rest quotes
 * the file, which may hold secrets, and is not told.
 */
function describe(path: string, { message }: Error, isNot: string) {
  const [, line, summary = isNot || "it cannot be parsed"] =
    /(?:\bx\.tf:|\(line )(\d+)(?:,\d+(?:-[\d,]+)?: ([\w ,'-]+))?/.exec(
      message,
    ) ?? [];
  const where = line === undefined ? path : `${path}:${line}`;
  return failure("input", where, summary, "correct it");
}

/** Its own type declarations bring those of the DOM with them, which contradict Node's. */
interface HclParser {
  readonly parse: (name: string, text: string) => Promise<unknown>;
}

let hcl: HclParser | undefined;

/** The heap limit of a thread does not count the memory of WebAssembly; in pages of 64 KiB. */
const mostMemory = "--wasm-max-mem-pages=8192";

/** HCL's own parser, compiled to WebAssembly, which takes 0.2 s to start. */
function parseHcl(text: string): Promise<unknown> {
  hcl ??= startHcl();
  return hcl.parse("x.tf", text);
}

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
