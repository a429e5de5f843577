import { text } from "node:stream/consumers";
import { takeInput, type InputText } from "../../commands/inputs/input-file.ts";
import type { Flags } from "../flags.ts";
import { runVerb } from "../verb.ts";

/** The flags that choose packages. */
interface SelectionFlags extends Flags {
  readonly platform?: readonly string[];
  readonly module?: readonly string[];
  readonly lockFile?: readonly string[];
  readonly directory?: readonly string[];
  readonly list?: readonly string[];
}

export interface PrefetchFlags extends SelectionFlags {
  readonly check?: boolean;
}

export interface ExportFlags extends SelectionFlags {
  readonly to?: string;
  readonly oci?: string;
  readonly bundle?: string;
  readonly since?: string;
}

export async function prefetch(
  specs: readonly string[],
  flags: PrefetchFlags,
): Promise<void> {
  await runVerb("prefetch", { specs, ...(await readInputs(flags)) });
}

export async function exportPackages(
  specs: readonly string[],
  flags: ExportFlags,
): Promise<void> {
  await runVerb("export", { specs, ...(await readInputs(flags)) });
}

/** Reads the files among the flags, and standard input for the list `-`. */
async function readInputs<F extends SelectionFlags>({
  lockFile = [],
  list = [],
  ...flags
}: F) {
  const lockFiles = await Promise.all(lockFile.map(takeInput));
  const lists = await Promise.all(list.map(takeList));
  return { ...flags, lockFiles, lists };
}

async function takeList(path: string): Promise<InputText> {
  return path === "-"
    ? { path: "standard input", text: await text(process.stdin) }
    : takeInput(path);
}
