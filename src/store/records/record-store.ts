import { createHash } from "node:crypto";
import { readdir, readFile, rm, stat } from "node:fs/promises";
import { writeDurably } from "../durable-file.ts";
import { classifyFileFailure } from "../file-failure.ts";
import { listRecords } from "./listing.ts";
import {
  recordFolder,
  recordPath,
  stagingPath,
  type RecordKey,
  type StoreLayout,
} from "../layout.ts";

/**
 * Small JSON documents by key. On disk a record is two lines: a seal (its own
 * key and the SHA-256 of the body) and the body, so that a record that was cut,
 * changed or moved to another name reads as absent instead of as false.
 */
export class RecordStore {
  readonly #layout: StoreLayout;
  readonly #onBroken: (key: RecordKey) => void;

  constructor(layout: StoreLayout, onBroken: (key: RecordKey) => void) {
    this.#layout = layout;
    this.#onBroken = onBroken;
  }

  /** The body as it was written, or undefined when there is none that can be believed. */
  async read(key: RecordKey): Promise<unknown> {
    const text = await readIfPresent(recordPath(this.#layout, key));
    if (text === undefined) return undefined;
    const body = unseal(key, text);
    if (body === undefined) this.#onBroken(key);
    return body;
  }

  /** Durable on return; replaces atomically. */
  async write(key: RecordKey, body: unknown): Promise<void> {
    const text = seal(key, JSON.stringify(body));
    const path = recordPath(this.#layout, key);
    const write = () =>
      writeDurably(stagingPath(this.#layout, "record"), path, text);
    await write().catch(async (error: unknown) => {
      // Only a folder in a record's place stops its rename, and it is nobody's.
      if (!isFolderInTheWay(error)) throw error;
      await rm(path, { force: true, recursive: true });
      await write();
    });
  }

  /** Another text after each write, whoever wrote; undefined when there is none. */
  async stamp(key: RecordKey): Promise<string | undefined> {
    try {
      const { ino, mtimeMs, size } = await stat(recordPath(this.#layout, key));
      return `${ino} ${mtimeMs} ${size}`;
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw error;
    }
  }

  async delete(key: RecordKey): Promise<void> {
    const path = recordPath(this.#layout, key);
    await rm(path, { force: true, recursive: true });
  }

  /** The key of every record. */
  listAll(): AsyncGenerator<RecordKey> {
    return listRecords(this.#layout);
  }

  /** The folders directly below `prefix`, in no order. */
  async folders(prefix: RecordKey): Promise<readonly string[]> {
    const names = await listIfPresent(recordFolder(this.#layout, prefix));
    return names.filter((name) => !name.endsWith(".json"));
  }

  /** The last parts of the keys directly below `prefix`, in no order. */
  async list(prefix: RecordKey): Promise<readonly string[]> {
    const names = await listIfPresent(recordFolder(this.#layout, prefix));
    return names
      .filter((name) => name.endsWith(".json"))
      .map((name) => name.slice(0, -".json".length));
  }
}

function seal(key: RecordKey, body: string): string {
  const head = JSON.stringify({ key: key.join("/"), sha256: sha256(body) });
  return `${head}\n${body}\n`;
}

function unseal(key: RecordKey, text: string): unknown {
  const [, body = ""] = text.split("\n", 2);
  if (text !== seal(key, body)) return undefined;
  return JSON.parse(body) as unknown;
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

/** What is no file that can be read as one is as good as empty; a disk that fails says nothing about what is there. */
async function readIfPresent(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if (isMissing(error)) return undefined;
    if (unreadable.has((error as NodeJS.ErrnoException).code ?? "")) return "";
    throw error;
  }
}

const unreadable: ReadonlySet<string> = new Set([
  "EISDIR",
  "ELOOP",
  "EACCES",
  "ERR_FS_FILE_TOO_LARGE",
]);

function isFolderInTheWay(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === "EISDIR" || code === "ENOTEMPTY" || code === "EEXIST";
}

async function listIfPresent(path: string): Promise<readonly string[]> {
  try {
    return await readdir(path);
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}

function isMissing(error: unknown): boolean {
  return classifyFileFailure(error) === "missing";
}
