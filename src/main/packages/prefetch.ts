import { text } from "node:stream/consumers";
import { takeInput, type InputText } from "../../commands/inputs/input-file.ts";
import { runVerb } from "../verb.ts";

/** Flags that name files, among those that choose packages. */
interface FileFlags {
  readonly lockFile?: readonly string[];
  readonly list?: readonly string[];
}

export async function prefetch(flags: FileFlags): Promise<number> {
  return runVerb("prefetch", await readFiles(flags));
}

export async function exportPackages(flags: FileFlags): Promise<number> {
  return runVerb("export", await readFiles(flags));
}

/** Reads the files among the flags, and standard input for the list `-`. */
async function readFiles({ lockFile = [], list = [], ...flags }: FileFlags) {
  const lockFiles = await Promise.all(lockFile.map(takeInput));
  const lists = await Promise.all(list.map(takeList));
  return { ...flags, lockFile: lockFiles, list: lists };
}

async function takeList(path: string): Promise<InputText> {
  return path === "-"
    ? { path: "standard input", text: await text(process.stdin) }
    : takeInput(path);
}
