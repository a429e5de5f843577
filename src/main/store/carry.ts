import { runCarry } from "../../commands/held/carry.ts";
import { makeProgress } from "../../commands/progress/progress.ts";
import { loadConfiguration } from "../../config/load.ts";
import { carryStore } from "../../wiring/store/carrying.ts";
import { untilStopped } from "../options.ts";
import { unlessStopped } from "./retention.ts";

export interface CarryFlags {
  readonly config?: string;
  readonly json?: boolean;
}

export async function carry(
  direction: "push" | "pull",
  { config, json = false }: CarryFlags,
): Promise<void> {
  const configuration = loadConfiguration({ file: config });
  const signal = untilStopped();
  const progress = makeProgress(process.stderr, () => performance.now());
  const stdout = (text: string) => void process.stdout.write(text);
  await unlessStopped(signal, () =>
    runCarry(
      (options) => carryStore(direction, configuration, options),
      { json, signal },
      progress,
      stdout,
    ),
  );
}
