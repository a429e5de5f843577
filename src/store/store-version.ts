import { readdir, readFile } from "node:fs/promises";
import { dirname } from "node:path";
import { z } from "zod";
import { failure } from "../errors/index.ts";
import { writeDurably } from "./durable-file.ts";
import { unlessMissing } from "./file-failure.ts";
import { stagingPath, type StoreLayout } from "./layout.ts";

/**
 * Version of the stores that this program writes. It grows when an older
 * program would misunderstand a store, or overlook parts of it.
 */
const storeVersion = 1;

const shape = z.object({ version: z.int().positive() });

/**
 * Refuses a store that a newer program wrote, before anything in it is touched.
 * A store without its file is of the first version: a full disk takes no mark.
 * Throws store-too-new and store-version-unreadable.
 */
export async function checkStoreVersion(layout: StoreLayout): Promise<void> {
  const marked = await readVersion(layout);
  const newest = Math.max(marked ?? 0, ...(await listRecordVersions(layout)));
  if (newest > storeVersion)
    throw failure("store-too-new", layout.directory, newest, storeVersion);
}

/** Says which version a store is of, once. A full disk leaves that to the next start, and what is there is served. */
export async function markStoreVersion(layout: StoreLayout): Promise<void> {
  if ((await readVersion(layout)) === storeVersion) return;
  const text = `${JSON.stringify({ version: storeVersion })}\n`;
  await writeDurably(
    stagingPath(layout, "version"),
    layout.version,
    text,
  ).catch(() => undefined);
}

/** Undefined where nothing is said. */
async function readVersion({
  version,
}: StoreLayout): Promise<number | undefined> {
  const text = await readFile(version, "utf8").catch(unlessMissing);
  if (text === undefined) return undefined;
  try {
    return shape.parse(JSON.parse(text)).version;
  } catch (error) {
    throw failure("store-version-unreadable", version, storeVersion, {
      cause: error,
    });
  }
}

/**
 * Lists the versions in the names of the records' folders, so that a backup of
 * them alone has its version, too.
 */
async function listRecordVersions({
  records,
}: StoreLayout): Promise<readonly number[]> {
  const names = await readdir(dirname(records)).catch(unlessMissing);
  return (names ?? []).flatMap((name) => {
    const [, digits] = /^v([1-9][0-9]{0,5})$/.exec(name) ?? [];
    return digits === undefined ? [] : [Number(digits)];
  });
}
