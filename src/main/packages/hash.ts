import { runHash } from "../../commands/packages/hash.ts";
import { packageLimits } from "../../verification/archives/limits.ts";
import type { Flags } from "../flags.ts";
import { output } from "../output.ts";

export async function hash(
  archives: readonly string[],
  { json = false }: Pick<Flags, "json">,
): Promise<void> {
  const limits = packageLimits;
  process.exitCode = await runHash({ archives, json, limits }, output);
}
