import { runList } from "../../commands/store/list.ts";
import { runPurge } from "../../commands/store/purge.ts";
import { loadConfiguration } from "../../config/load.ts";
import { wireStored } from "../../wiring/commands/store.ts";
import type { Flags } from "../flags.ts";
import { anyHostOf } from "../options.ts";
import { output } from "../output.ts";

export async function list(
  spec: string | undefined,
  { config, json = false }: Flags,
): Promise<void> {
  const configuration = loadConfiguration({ file: config });
  const hosts = anyHostOf(configuration);
  await using core = await wireStored(configuration);
  process.exitCode = await runList(core, { spec, hosts, json }, output);
}

export async function purge(
  spec: string,
  { config, json = false }: Flags,
): Promise<void> {
  const configuration = loadConfiguration({ file: config });
  const hosts = anyHostOf(configuration);
  await using core = await wireStored(configuration);
  const parts = { ...core, shared: core.replica?.blobs };
  await runPurge(parts, { spec, hosts, json }, output.stdout);
}
