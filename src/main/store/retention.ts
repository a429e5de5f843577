import { runPrune } from "../../commands/operate/prune.ts";
import { makeProgress } from "../../commands/progress/progress.ts";
import { runVerify } from "../../commands/operate/verify.ts";
import { loadConfiguration } from "../../config/load.ts";
import { wireStored } from "../../wiring/command.ts";
import { untilStopped } from "../options.ts";

export interface PruneFlags {
  readonly config?: string;
  readonly dryRun?: boolean;
  readonly json?: boolean;
}

export interface VerifyFlags {
  readonly config?: string;
  readonly repair?: boolean;
  readonly json?: boolean;
}

const stdout = (text: string) => void process.stdout.write(text);

export async function prune(flags: PruneFlags): Promise<void> {
  const { dryRun = false, json = false } = flags;
  const configuration = loadConfiguration({ file: flags.config });
  const { maxSize } = configuration.storage;
  const core = await wireStored(configuration);
  const options = { dryRun, json, maxSize, now: new Date() };
  try {
    process.exitCode = await runPrune(core, options, stdout);
  } finally {
    await core.close();
  }
}

export async function verify(flags: VerifyFlags): Promise<void> {
  const { repair = false, json = false } = flags;
  const core = await wireStored(loadConfiguration({ file: flags.config }));
  const signal = untilStopped();
  const progress = makeProgress(process.stderr, () => performance.now());
  const options = { repair, json, signal };
  try {
    await unlessStopped(signal, () =>
      runVerify(core, options, progress, stdout),
    );
  } finally {
    await core.close();
  }
}

/** The exit status is that of `run`, or tells that it was stopped. */
export async function unlessStopped(
  signal: AbortSignal,
  run: () => Promise<number>,
): Promise<void> {
  try {
    process.exitCode = await run();
  } catch (error) {
    if (!signal.aborted) throw error;
    process.stderr.write("Interrupted: run the same command again.\n");
    process.exitCode = 1;
  }
}
