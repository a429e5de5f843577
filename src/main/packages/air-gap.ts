import { runExport } from "../../commands/packages/export.ts";
import { runImport } from "../../commands/packages/import.ts";
import { makeProgress } from "../../commands/output/progress.ts";
import { loadConfiguration } from "../../config/load.ts";
import { wireBundleLimits, wireMirror } from "../../wiring/commands/store.ts";
import type { Flags } from "../flags.ts";
import {
  selectionOf,
  unlessStopped,
  untilStopped,
  type SelectionFlags,
} from "../options.ts";
import { output } from "../output.ts";

export interface ExportFlags extends SelectionFlags {
  readonly to?: string;
  readonly oci?: string;
  readonly bundle?: string;
  readonly since?: string;
}

export async function exportPackages(
  specs: readonly string[],
  flags: ExportFlags,
): Promise<void> {
  const configuration = loadConfiguration({ file: flags.config });
  const options = {
    input: selectionOf(specs, flags, configuration),
    to: flags.to,
    oci: flags.oci,
    bundle: flags.bundle,
    since: flags.since,
    limits: wireBundleLimits(configuration),
  };
  const signal = untilStopped();
  await using core = await wireMirror(configuration);
  signal.addEventListener("abort", () => void core.stopFetching());
  const progress = makeProgress(process.stderr, () => performance.now());
  const ways = { inspects: true, checks: false };
  const fetching = { mirror: core, progress, signal, ...ways };
  const parts = { ...fetching, store: core };
  await unlessStopped(signal, () => runExport(options, parts, output.stderr));
}

export async function importFile(file: string, flags: Flags): Promise<void> {
  const configuration = loadConfiguration({ file: flags.config });
  const limits = wireBundleLimits(configuration);
  // First, because what is opened leaves files behind for a moment.
  const signal = untilStopped();
  await using core = await wireMirror(configuration);
  const options = { file, limits, signal };
  await unlessStopped(signal, async () => {
    if (configuration.storage.maxSize !== undefined)
      await core.retention.measure();
    return runImport(core, options, output.stderr);
  });
}
