import { runPrefetch } from "../../commands/packages/prefetch.ts";
import { makeProgress } from "../../commands/output/progress.ts";
import { loadConfiguration } from "../../config/load.ts";
import { wireMirror } from "../../wiring/commands/store.ts";
import { selectionOf, untilStopped, type SelectionFlags } from "../options.ts";
import { output } from "../output.ts";

const now = () => performance.now();

export interface PrefetchFlags extends SelectionFlags {
  readonly check?: boolean;
}

/** The first SIGINT or SIGTERM ends the work in order, a second one at once. */
export async function prefetch(
  specs: readonly string[],
  flags: PrefetchFlags,
): Promise<void> {
  const loaded = loadConfiguration({ file: flags.config });
  const checks = flags.check ?? false;
  const configuration = checks ? { ...loaded, offline: true } : loaded;
  const input = selectionOf(specs, flags, configuration);
  await using core = await wireMirror(configuration);
  const parts = {
    mirror: core,
    progress: makeProgress(process.stderr, now),
    signal: untilStopped(),
    ...{ inspects: false, checks },
  };
  const stopFetching = () => core.stopFetching();
  if (configuration.storage.maxSize !== undefined)
    await core.retention.measure();
  const options = { input, json: flags.json ?? false };
  const streams = { ...output, now, stopFetching };
  process.exitCode = await runPrefetch(options, parts, streams);
}
