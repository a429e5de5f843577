import { runCompare } from "../../commands/store/compare.ts";
import { loadConfiguration } from "../../config/load.ts";
import { wireStored } from "../../wiring/commands/store.ts";
import type { Flags } from "../flags.ts";
import { openMirror } from "../mirror-access.ts";
import { anyHostOf, untilStopped } from "../options.ts";
import { output } from "../output.ts";

export interface CompareFlags extends Flags {
  readonly with: string;
  readonly ca?: string;
}

export async function compare(
  specs: readonly string[],
  { config, with: url, ca, json = false }: CompareFlags,
): Promise<void> {
  const configuration = loadConfiguration({ file: config });
  await using other = openMirror(configuration, "--with", url, ca);
  const { base, http } = other;
  await using core = await wireStored(configuration);
  const options = {
    base,
    specs,
    hosts: anyHostOf(configuration),
    json,
    signal: untilStopped(),
  };
  const parts = { ...core, http };
  process.exitCode = await runCompare(parts, options, output.stdout);
}
