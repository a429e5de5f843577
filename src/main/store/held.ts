import { runList } from "../../commands/store/list.ts";
import { runPurge } from "../../commands/store/purge.ts";
import { loadConfiguration } from "../../config/load.ts";
import { wireStored } from "../../wiring/commands/store.ts";
import type { Flags } from "../flags.ts";
import { output } from "../output.ts";

export async function list(
  spec: string | undefined,
  { config, json = false }: Flags,
): Promise<void> {
  await using core = await wireStored(loadConfiguration({ file: config }));
  process.exitCode = await runList(core, { spec, json }, output);
}

export async function purge(
  spec: string,
  { config, json = false }: Flags,
): Promise<void> {
  await using core = await wireStored(loadConfiguration({ file: config }));
  const parts = { ...core, shared: core.replica?.blobs };
  await runPurge(parts, { spec, json }, output.stdout);
}
