import { runCarry } from "../../../../src/commands/store/carry.ts";
import { makeProgress } from "../../../../src/commands/output/progress.ts";
import { loadConfiguration } from "../../../../src/config/load.ts";
import type { BucketSettings } from "../../../../src/store/bucket/bucket-settings.ts";
import type { Direction } from "../../../../src/store/bucket/carrying/carry.ts";
import type { StoreLayout } from "../../../../src/store/layout.ts";
import { carryStore } from "../../../../src/wiring/commands/carrying.ts";
import { expectDocument } from "../../../commands/documents.ts";
import { writeBucketConfiguration } from "../../../scenes/bucket-configuration.ts";

/** `provender store push|pull --json`, in this process. */
export async function run(
  direction: Direction,
  { directory }: StoreLayout,
  settings: BucketSettings,
  limits: Readonly<Record<string, unknown>> = {},
) {
  const file = writeBucketConfiguration(directory, settings, {}, limits);
  const configuration = loadConfiguration({ file });
  const signal = new AbortController().signal;
  const progress = makeProgress({ write: () => undefined }, () => 0);
  let stdout = "";
  const status = await runCarry(
    (options) => carryStore(direction, configuration, options),
    { json: true, signal },
    progress,
    (text) => (stdout += text),
  );
  const report = expectDocument(`store ${direction}`, stdout) as CarryReport;
  return { status, report };
}

interface CarryReport {
  readonly found: object;
  readonly written: object;
  readonly differences: readonly { name: string; problem: string }[];
  readonly problems: readonly { name: string; problem: string }[];
}

export const nothing = { records: 0, archives: 0, bytes: 0 };
