import { constants } from "node:fs";
import { createRequire } from "node:module";
import { setFlagsFromString } from "node:v8";

/** Its own type declarations bring those of the DOM with them, which contradict Node's. */
interface HclParser {
  readonly parse: (name: string, text: string) => Promise<unknown>;
}

/** What a text says in HCL's JSON form, or the parser's own words on why it says nothing. */
export type HclAnswer = { readonly root: unknown } | { readonly bad: string };

let hcl: HclParser | undefined;

export default async function parse(text: string): Promise<HclAnswer> {
  hcl ??= startHcl();
  try {
    return { root: await hcl.parse("x.tf", text) };
  } catch (error) {
    return { bad: (error as Error).message };
  }
}

/** The heap limit of a thread does not count the memory of WebAssembly; in pages of 64 KiB. */
const mostMemory = "--wasm-max-mem-pages=8192";

/** HCL's own parser, compiled to WebAssembly, which takes 0.2 s to start. */
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
