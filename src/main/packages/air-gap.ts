import { runExport } from "../../commands/packages/export.ts";
import { runImport } from "../../commands/packages/import.ts";
import { makeProgress } from "../../commands/progress/progress.ts";
import { loadConfiguration } from "../../config/load.ts";
import { wireBundleLimits, wireMirror } from "../../wiring/command.ts";
import { selectionOf, untilStopped, type SelectionFlags } from "../options.ts";

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
  const core = await wireMirror(configuration);
  signal.addEventListener("abort", () => void core.stopFetching());
  const progress = makeProgress(process.stderr, () => performance.now());
  const fetching = { mirror: core, progress, signal, inspects: true };
  const parts = { ...fetching, store: core };
  await finish(core, signal, () => runExport(options, parts, say));
}

export async function importFile(
  file: string,
  flags: { readonly config?: string },
): Promise<void> {
  const configuration = loadConfiguration({ file: flags.config });
  const limits = wireBundleLimits(configuration);
  // First, because what is opened leaves files behind for a moment.
  const signal = untilStopped();
  const core = await wireMirror(configuration);
  const options = { file, limits, signal };
  await finish(core, signal, async () => {
    if (configuration.storage.maxSize !== undefined)
      await core.retention.measure();
    return runImport(core, options, say);
  });
}

async function finish(
  core: { close(): Promise<void> },
  signal: AbortSignal,
  work: () => Promise<number>,
): Promise<void> {
  try {
    process.exitCode = await work();
  } catch (error) {
    if (!signal.aborted) throw error;
    say("Interrupted: run the same command again to go on.\n");
    process.exitCode = 1;
  } finally {
    await core.close();
  }
}

function say(text: string): void {
  process.stderr.write(text);
}
