import { setTimeout as pause } from "node:timers/promises";
import { findOperator } from "../config/environment.ts";
import { findStorageDirectory } from "../config/source.ts";
import { isFailure } from "../errors/index.ts";
import { layOutStore } from "../store/layout.ts";
import { askDaemon } from "../wiring/admin/client.ts";
import type { Command } from "../wiring/verbs/run.ts";
import { resolvePaths, type VerbName } from "../wiring/verbs/table.ts";
import { output, print, untilStopped } from "./output.ts";
import { version } from "./version.ts";
import { text } from "node:stream/consumers";
import { type InputText, takeInput } from "../commands/inputs/input-file.ts";

/** Milliseconds that a command waits for another one, and for a daemon that starts. */
const patience = 5_000;

/** Milliseconds between two tries. */
const pauseBetween = 100;

/** Arguments and flags by name, with `--config`. */
export interface VerbInput {
  readonly config?: string;
  readonly [name: string]: unknown;
}

/**
 * Has the daemon run a verb, or runs it with the store of the configuration
 * `config` while no daemon works on it. Returns the exit status. Throws
 * store-in-use, and what asking the daemon and opening the store throw.
 */
export async function runVerb(
  name: VerbName,
  { config, ...input }: VerbInput,
): Promise<number> {
  const directory = findStorageDirectory(config);
  const command: Command = {
    input,
    operator: findOperator(),
    isDaemonUser: true,
    columns: process.stderr.isTTY ? process.stderr.columns : undefined,
    stdout: print,
    openFile: async (path) => {
      const { openFile } = await import("../mirror/bundles/bundle-file.ts");
      return openFile(path);
    },
    stderr: (text) => {
      output.stderr(text);
      return Promise.resolve(true);
    },
    signal: untilStopped(),
  };
  const end = performance.now() + patience;
  for (;;)
    try {
      return (
        (await askThere(name, directory, command)) ??
        (await runHere(name, config, command))
      );
    } catch (error) {
      if (!isFailure(error, "store-in-use") || performance.now() > end)
        throw error;
      await pause(pauseBetween);
    }
}

async function askThere(
  verb: VerbName,
  directory: string | undefined,
  { input, operator, columns, stdout, stderr, signal }: Command,
): Promise<number | undefined> {
  if (directory === undefined) return undefined;
  const request = { verb, input: resolvePaths(verb, input), operator, columns };
  const layout = layOutStore(directory);
  const { file } = input as { readonly file?: string };
  return askDaemon(layout, { version, request, file, stdout, stderr, signal });
}

async function runHere(
  name: VerbName,
  file: string | undefined,
  command: Command,
): Promise<number> {
  const { loadConfiguration } = await import("../config/load.ts");
  const configuration = loadConfiguration({ file });
  const { openMirror, runVerb: run } = await import("../wiring/verbs/run.ts");
  await using mirror = await openMirror(configuration, `provender ${name}`);
  return await run(name, mirror, command);
}

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
