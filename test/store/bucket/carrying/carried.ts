import { runCarry } from "../../../../src/commands/store/carry.ts";
import { makeProgress } from "../../../../src/commands/output/progress.ts";
import { loadConfiguration } from "../../../../src/config/load.ts";
import type { BucketSettings } from "../../../../src/store/bucket/bucket-settings.ts";
import type { StoreLayout } from "../../../../src/store/layout.ts";
import { carryStore } from "../../../../src/main/store/push.ts";
import { expectDocument } from "../../../commands/documents.ts";
import { writeBucketConfiguration } from "../../../scenes/bucket-configuration.ts";

/** `provender store push --json`, in this process. */
export async function push(
  { directory }: StoreLayout,
  settings: BucketSettings,
) {
  const file = writeBucketConfiguration(directory, settings);
  const configuration = loadConfiguration({ file });
  const signal = new AbortController().signal;
  const progress = makeProgress({ write: () => undefined }, () => 0);
  let stdout = "";
  const status = await runCarry(
    (options) => carryStore(configuration, options),
    { json: true, signal },
    progress,
    (text) => (stdout += text),
  );
  const report = expectDocument("store push", stdout) as CarryReport;
  return { status, report };
}

interface CarryReport {
  readonly found: object;
  readonly written: object;
  readonly differences: readonly { name: string; problem: string }[];
  readonly problems: readonly { name: string; problem: string }[];
}

export const nothing = { records: 0, archives: 0, bytes: 0 };
