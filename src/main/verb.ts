import { takeInput } from "../commands/inputs/input-file.ts";
import { readBundled } from "../commands/packages/export.ts";
import { openBundle } from "../commands/packages/import.ts";
import { Progress } from "../commands/output/progress.ts";
import { findOperator } from "../config/environment.ts";
import { loadConfiguration } from "../config/load.ts";
import { wireBundleLimits } from "../wiring/commands/store.ts";
import { all, openMirror, type VerbName } from "../wiring/verbs/all.ts";
import type { OpenMirror, VerbIo } from "../wiring/verbs/verb.ts";
import { type Flags, output, print, untilStopped } from "./flags.ts";

/**
 * Runs a verb over the store of the configuration, beside a daemon and other commands or without them. Returns the exit
 * status; throws what opening the store throws.
 */
export async function runVerb(
  name: VerbName,
  { config, ...flags }: Flags,
): Promise<number> {
  const configuration = loadConfiguration({ file: config });
  const signal = untilStopped();
  const verb = all[name] as (
    flags: object,
    mirror: OpenMirror,
    io: VerbIo,
  ) => Promise<number>;
  try {
    await using mirror = await openMirror(configuration);
    return await verb(flags, mirror, {
      ...{ ...output, print, signal },
      operator: findOperator(),
      makeProgress: () => makeProgress(flags.json === true),
    });
  } catch (error) {
    if (!signal.aborted) throw error;
    output.stderr("Interrupted: run the same command again.\n");
    return 1;
  }
}

function makeProgress(isSilent: boolean): Progress {
  if (isSilent)
    return new Progress({ columns: undefined, write: () => undefined });
  const { isTTY, columns } = process.stderr;
  return new Progress({
    columns: isTTY ? columns : undefined,
    write: output.stderr,
  });
}

/** Flags that name files, among those that choose packages. */
interface FileFlags extends Flags {
  readonly lockFile?: readonly string[];
}

export async function prefetch(flags: FileFlags): Promise<number> {
  return runVerb("prefetch", await readFiles(flags));
}

export async function exportPackages({
  since: path,
  ...flags
}: FileFlags & { readonly since?: string }): Promise<number> {
  const limits = wireBundleLimits(loadConfiguration({ file: flags.config }));
  const since = path === undefined ? path : await readBundled(path, limits);
  return runVerb("export", { ...(await readFiles(flags)), since } as Flags);
}

export async function importFile({
  sha256,
  ...flags
}: Flags & {
  readonly file: string;
  readonly sha256?: string;
}): Promise<number> {
  const limits = wireBundleLimits(loadConfiguration({ file: flags.config }));
  const { stderr } = output;
  const bundle = await openBundle(flags.file, sha256, limits, stderr);
  return runVerb("import", { ...flags, bundle } as Flags);
}

/** Reads the lock files as the user of the command: opening the store takes its owner's. */
async function readFiles({ lockFile = [], ...flags }: FileFlags) {
  return { ...flags, lockFile: await Promise.all(lockFile.map(takeInput)) };
}
