import { runHash } from "../../commands/packages/hash.ts";
import { loadConfiguration } from "../../config/load.ts";
import { zipLimits } from "../../wiring/threads.ts";
import type { Flags } from "../flags.ts";
import { output } from "../output.ts";

export async function hash(
  archives: readonly string[],
  { json = false }: Pick<Flags, "json">,
): Promise<void> {
  const limits = zipLimits(loadConfiguration({ file: undefined }).limits);
  process.exitCode = await runHash({ archives, json, limits }, output);
}
