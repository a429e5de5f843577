import { runCarry } from "../../commands/store/carry.ts";
import type { Output } from "../../commands/output/streams.ts";
import { makeProgress } from "../../commands/output/progress.ts";
import { loadConfiguration, type Configuration } from "../../config/load.ts";
import { failure } from "../../errors/index.ts";
import {
  carry,
  type CarryOptions,
  type CarryReport,
} from "../../store/bucket/carrying/carry.ts";
import {
  lockStorageDirectory,
  openStorageDirectory,
} from "../../store/storage-directory.ts";
import { wireBucket } from "../../wiring/store/bucket.ts";
import type { Flags } from "../flags.ts";
import { untilStopped } from "../output.ts";

export async function push(
  { config, json = false }: Flags,
  { stdout, stderr }: Output,
): Promise<number> {
  const configuration = loadConfiguration({ file: config });
  const signal = untilStopped();
  const progress = makeProgress(process.stderr, () => performance.now());
  const run = (options: CarryOptions) => carryStore(configuration, options);
  try {
    return await runCarry(run, { json, signal }, progress, stdout);
  } catch (error) {
    if (!signal.aborted) throw error;
    stderr("Interrupted: run the same command again.\n");
    return 1;
  }
}

/**
 * Carries `storage.directory` into `storage.s3`, while no daemon works on it.
 * Throws store-in-use, configuration and what `carry` throws.
 */
export async function carryStore(
  configuration: Configuration,
  options: CarryOptions,
): Promise<CarryReport> {
  const { s3, directory } = configuration.storage;
  if (s3 === undefined)
    throw failure(
      "configuration",
      `"storage.s3"`,
      `it is empty, and "provender store push" needs a bucket`,
      "set it",
    );
  const layout = await openStorageDirectory(directory);
  const lock = lockStorageDirectory(layout, "provender store push");
  const bucket = wireBucket(s3);
  try {
    return await carry({ bucket, layout }, options);
  } finally {
    await bucket.close();
    lock.release();
  }
}
