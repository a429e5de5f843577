import { runHash } from "../../commands/operate/hash.ts";
import { loadConfiguration } from "../../config/load.ts";
import { zipLimits } from "../../wiring/threads.ts";

export async function hash(
  archives: readonly string[],
  { json = false }: { readonly json?: boolean },
): Promise<void> {
  const { limits } = loadConfiguration({ file: undefined });
  process.exitCode = await runHash(
    { archives, json, limits: zipLimits(limits) },
    {
      stdout: (text) => void process.stdout.write(text),
      stderr: (text) => void process.stderr.write(text),
    },
  );
}
