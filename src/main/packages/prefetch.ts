import { runPrefetch } from "../../commands/packages/prefetch.ts";
import { makeProgress } from "../../commands/progress/progress.ts";
import { loadConfiguration } from "../../config/load.ts";
import { wireMirror } from "../../wiring/command.ts";
import { selectionOf, untilStopped, type SelectionFlags } from "../options.ts";

export interface PrefetchFlags extends SelectionFlags {
  readonly json?: boolean;
}

const now = () => performance.now();

/** The first SIGINT or SIGTERM ends the work in order, a second one at once. */
export async function prefetch(
  specs: readonly string[],
  flags: PrefetchFlags,
): Promise<void> {
  const configuration = loadConfiguration({ file: flags.config });
  const input = selectionOf(specs, flags, configuration);
  const core = await wireMirror(configuration);
  const parts = {
    mirror: core,
    progress: makeProgress(process.stderr, now),
    signal: untilStopped(),
    inspects: false,
  };
  const output = {
    stdout: (text: string) => process.stdout.write(text),
    stderr: (text: string) => process.stderr.write(text),
    now,
    stopFetching: () => core.stopFetching(),
  };
  try {
    if (configuration.storage.maxSize !== undefined)
      await core.retention.measure();
    const options = { input, json: flags.json ?? false };
    process.exitCode = await runPrefetch(options, parts, output);
  } finally {
    await core.close();
  }
}
