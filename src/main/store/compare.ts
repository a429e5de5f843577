import { runCompare } from "../../commands/held/compare.ts";
import { loadConfiguration } from "../../config/load.ts";
import { wireStored } from "../../wiring/command.ts";
import { wireNamedHost } from "../../wiring/origins.ts";
import { nameMirror } from "../mirror-access.ts";
import { untilStopped } from "../options.ts";

export interface CompareFlags {
  readonly config?: string;
  readonly with: string;
  readonly ca?: string;
  readonly json?: boolean;
}

export async function compare(
  specs: readonly string[],
  { config, with: other, ca, json = false }: CompareFlags,
): Promise<void> {
  const configuration = loadConfiguration({ file: config });
  const named = nameMirror("--with", other, ca);
  const { base } = named;
  const core = await wireStored(configuration);
  const http = wireNamedHost(configuration, base, named);
  const stdout = (text: string) => void process.stdout.write(text);
  const options = { base, specs, json, signal: untilStopped() };
  try {
    const parts = { ...core, http };
    process.exitCode = await runCompare(parts, options, stdout);
  } finally {
    await http.close();
    await core.close();
  }
}
