import { readdir } from "node:fs/promises";
import { relative } from "node:path";
import { failure } from "../../errors/index.ts";
import { classifyFileFailure, describeFailure } from "../file-failure.ts";
import {
  isKeyPart,
  recordFolders,
  type RecordKey,
  type StoreLayout,
} from "../layout.ts";

const suffix = ".json";

/** Names in a folder of records, in no order. */
interface Listed {
  readonly records: readonly string[];
  readonly folders: readonly string[];
}

/** The key of every record, folder by folder; what leaves meanwhile is left out. */
export async function* listRecords(
  layout: StoreLayout,
  prefix: RecordKey = [],
): AsyncGenerator<RecordKey> {
  const { records, folders } = await listFolder(layout, prefix);
  for (const name of records) yield [...prefix, name];
  for (const name of folders) yield* listRecords(layout, [...prefix, name]);
}

/** Lists the names directly below `prefix` in any copy. */
export async function listFolder(
  layout: StoreLayout,
  prefix: RecordKey,
): Promise<Listed> {
  const paths = recordFolders(layout, prefix);
  const found = await Promise.allSettled(paths.map(listEntries));
  const names = found.flatMap((one) =>
    one.status === "fulfilled" ? one.value : [],
  );
  const [failure] = found.filter((one) => one.status === "rejected");
  if (failure !== undefined && names.length === 0)
    throw asUnreadable(layout, paths[0] ?? "", failure.reason);
  const all = [...new Set(names)];
  const records = all.filter((name) => name.endsWith(suffix));
  return {
    records: records
      .map((name) => name.slice(0, -suffix.length))
      .filter(isKeyPart),
    folders: all.filter((name) => !name.endsWith(suffix) && isKeyPart(name)),
  };
}

/** Records and folders; other files are passed over. */
async function listEntries(path: string): Promise<readonly string[]> {
  try {
    const entries = await readdir(path, { withFileTypes: true });
    return entries
      .filter((one) => one.isDirectory() || one.name.endsWith(suffix))
      .map(({ name }) => name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
}

/** Remedy for a record that cannot be read on this disk. */
export const restoreRecord =
  "look at the disk and at the file's owner and mode, then restore it from a backup";

/**
 * Converts an error to record-unreadable, unless it is a passing shortage,
 * which proves nothing about the folder.
 */
function asUnreadable(
  { directory }: StoreLayout,
  path: string,
  error: unknown,
): unknown {
  const { code } = error as NodeJS.ErrnoException;
  if (classifyFileFailure(error) !== "broken" && code !== "ENOTDIR")
    return error;
  const file = relative(directory, path);
  const problem = describeFailure(error);
  return failure("record-unreadable", file, problem, restoreRecord, {
    cause: error,
  });
}
