import type { Configuration } from "../../config/load.ts";
import { failure } from "../../errors/index.ts";
import {
  carry,
  type CarryOptions,
  type CarryReport,
} from "../../store/bucket/carrying/carry.ts";
import { lockStorageDirectory } from "../../store/storage-directory.ts";
import { openLayout } from "./layout.ts";
import { wireBucket } from "../store/bucket.ts";

/** Carries `storage.directory` into `storage.s3`, while no daemon works on it. Throws store-in-use, configuration and what `carry` throws. */
export async function carryStore(
  configuration: Configuration,
  options: CarryOptions,
): Promise<CarryReport> {
  const { s3 } = configuration.storage;
  if (s3 === undefined)
    throw failure(
      "configuration",
      `"storage.s3"`,
      `it is empty, and "provender store push" needs a bucket`,
      "set it",
    );
  const layout = await openLayout(configuration);
  const lock = lockStorageDirectory(layout, "provender store push");
  const bucket = wireBucket(s3);
  try {
    return await carry({ bucket, layout }, options);
  } finally {
    await bucket.close();
    lock.release();
  }
}
