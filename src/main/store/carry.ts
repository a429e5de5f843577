import { runCarry } from "../../commands/store/carry.ts";
import { makeProgress } from "../../commands/output/progress.ts";
import { loadConfiguration } from "../../config/load.ts";
import { carryStore } from "../../wiring/commands/carrying.ts";
import type { Flags } from "../flags.ts";
import { unlessStopped, untilStopped } from "../options.ts";
import { output } from "../output.ts";

export async function push({ config, json = false }: Flags): Promise<void> {
  const configuration = loadConfiguration({ file: config });
  const signal = untilStopped();
  const progress = makeProgress(process.stderr, () => performance.now());
  await unlessStopped(signal, () =>
    runCarry(
      (options) => carryStore(configuration, options),
      { json, signal },
      progress,
      output.stdout,
    ),
  );
}
