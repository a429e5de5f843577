import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { classifyFileFailure } from "../file-failure.ts";
import type { RecordKey, StoreLayout } from "../layout.ts";

const suffix = ".json";

/** The key of every record, folder by folder; what leaves meanwhile is left out. */
export async function* listRecords(
  layout: StoreLayout,
  prefix: RecordKey = [],
): AsyncGenerator<RecordKey> {
  const folder = join(layout.records, ...prefix);
  const entries = await readdir(folder, { withFileTypes: true }).catch(
    (error: unknown) => {
      if (classifyFileFailure(error) === "missing") return [];
      throw error;
    },
  );
  for (const { name } of entries.filter((one) => one.name.endsWith(suffix)))
    yield [...prefix, name.slice(0, -suffix.length)];
  for (const entry of entries)
    if (entry.isDirectory() && !entry.name.endsWith(suffix))
      yield* listRecords(layout, [...prefix, entry.name]);
}
