import { open, rm } from "node:fs/promises";
import pLimit from "p-limit";
import { plainFileFlags, writeDurably } from "../durable-file.ts";
import { classifyFileFailure, describeFailure } from "../file-failure.ts";
import { stagingPath, type RecordKey, type StoreLayout } from "../layout.ts";
import { seal, unseal, type Sealed } from "./seal.ts";

/** State of a record's file. */
export type FileState =
  | { readonly kind: "missing" }
  | { readonly kind: "good"; readonly sealed: Sealed }
  | { readonly kind: "bad"; readonly problem: string };

/** Far more than any record has, in bytes. */
const largest = 256 * 1024 * 1024;

/** Files that are read at once: more would take descriptors and no less time. */
const turn = pLimit(8);

export function readRecordFile(
  key: RecordKey,
  path: string,
): Promise<FileState> {
  return turn(() => readInTurn(key, path));
}

async function readInTurn(key: RecordKey, path: string): Promise<FileState> {
  try {
    await using file = await open(path, plainFileFlags);
    const found = await file.stat();
    if (!found.isFile()) return { kind: "bad", problem: "it is not a file" };
    if (found.size > largest) return { kind: "bad", problem: "it is too big" };
    const sealed = unseal(key, await file.readFile("utf8"));
    return sealed === undefined
      ? { kind: "bad", problem: "it is cut, changed or moved" }
      : { kind: "good", sealed };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return { kind: "missing" };
    const failure = classifyFileFailure(error);
    // A file where a folder belongs hides what was there.
    if (failure !== "broken" && code !== "ENOTDIR") throw error;
    return { kind: "bad", problem: describeFailure(error) };
  }
}

/** Replaces what is there, also a folder. */
export async function replaceRecordFile(
  layout: StoreLayout,
  key: RecordKey,
  path: string,
  sealed: Sealed,
): Promise<void> {
  const text = seal(key, sealed);
  const write = () => writeDurably(stagingPath(layout, "record"), path, text);
  await write().catch(async (error: unknown) => {
    // Only a folder in a file's place stops its rename, and no process made it.
    if (!isFolderInTheWay(error)) throw error;
    await rm(path, { force: true, recursive: true });
    await write();
  });
}

function isFolderInTheWay(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === "EISDIR" || code === "ENOTEMPTY" || code === "EEXIST";
}
