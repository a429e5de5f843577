import { runList } from "../../commands/held/list.ts";
import { runPurge } from "../../commands/held/purge.ts";
import { loadConfiguration } from "../../config/load.ts";
import { wireStored } from "../../wiring/command.ts";

export interface HeldFlags {
  readonly config?: string;
  readonly json?: boolean;
}

const stdout = (text: string) => void process.stdout.write(text);
const stderr = (text: string) => void process.stderr.write(text);

export async function list(
  spec: string | undefined,
  { config, json = false }: HeldFlags,
): Promise<void> {
  const core = await wireStored(loadConfiguration({ file: config }));
  try {
    const output = { stdout, stderr };
    process.exitCode = await runList(core, { spec, json }, output);
  } finally {
    await core.close();
  }
}

export async function purge(
  spec: string,
  { config, json = false }: HeldFlags,
): Promise<void> {
  const core = await wireStored(loadConfiguration({ file: config }));
  try {
    const parts = { ...core, shared: core.replica?.blobs };
    await runPurge(parts, { spec, json }, stdout);
  } finally {
    await core.close();
  }
}
