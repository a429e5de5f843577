import { randomBytes } from "node:crypto";
import { open } from "node:fs/promises";
import { z } from "zod";
import { failure, ProvenderError } from "../errors/index.ts";
import { writeDurably } from "./durable-file.ts";
import { readJson } from "./json-text.ts";
import { stagingPath, type RecordKey, type StoreLayout } from "./layout.ts";

/** A secret of 32 bytes in base64url, and when it was made. */
const storedKey = z.object({
  madeAt: z.iso.datetime(),
  secret: z.string().regex(/^[A-Za-z0-9_-]{43}$/),
});

/** Newest first. */
const keyFile = z.object({ keys: z.array(storedKey).min(1).max(2) });

type StoredKey = z.infer<typeof storedKey>;

/** Milliseconds for which a key signs. */
const signingTime = 30 * 24 * 60 * 60 * 1000;

/** Milliseconds until all replicas know a key of the bucket, and it may sign. */
const spreading = 60_000;

const sharedKey: RecordKey = ["auth", "archive-url-keys"];

/** Records that all replicas have. */
interface SharedRecords {
  change<T>(
    key: RecordKey,
    readBody: (body: unknown) => T,
    change: (before: T | undefined) => unknown,
  ): Promise<void>;
}

/**
 * The secrets of signed archive URLs. The newest one signs; the one before it
 * is kept until it is replaced in turn, so that what it signed lives out.
 * Replicas have them from their bucket, and in the file for when that fails.
 */
export class ArchiveUrlKeys {
  readonly #layout: StoreLayout;
  readonly #shared: SharedRecords | undefined;
  #keys: readonly StoredKey[];
  #secrets: readonly Buffer[] = [];

  private constructor(
    layout: StoreLayout,
    keys: readonly StoredKey[],
    shared: SharedRecords | undefined,
  ) {
    this.#layout = layout;
    this.#keys = keys;
    this.#shared = shared;
  }

  /** Reads the keys, or makes the first one. */
  static async open(
    layout: StoreLayout,
    now: Date,
    shared?: SharedRecords,
  ): Promise<ArchiveUrlKeys> {
    try {
      const keys = new ArchiveUrlKeys(layout, await readKeys(layout), shared);
      if (keys.#keys.length === 0) await keys.renew(now, Infinity);
      keys.#secrets = keys.#inOrder(now).map(secretOf);
      return keys;
    } catch (error) {
      // It names its own remedy.
      if (error instanceof ProvenderError) throw error;
      const { archiveUrlKeys } = layout;
      const reason = `${archiveUrlKeys}: ${(error as Error).message}`;
      throw failure("store-unusable", layout.directory, reason, {
        cause: error,
      });
    }
  }

  /** The one that signs comes first; never empty. */
  get secrets(): readonly Buffer[] {
    return this.#secrets;
  }

  /**
   * Reads the bucket's keys. Makes a new one when the newest has signed for 30
   * days, and longer than its URLs may live (`life` ms).
   */
  async renew(now: Date, life: number): Promise<void> {
    const keys = await this.#change((keys) => renewed(keys, now, life));
    if (JSON.stringify(keys) !== JSON.stringify(this.#keys)) {
      const { archiveUrlKeys } = this.#layout;
      const staged = stagingPath(this.#layout, "key");
      const text = `${JSON.stringify({ keys })}\n`;
      await writeDurably(staged, archiveUrlKeys, text);
    }
    this.#keys = keys;
    this.#secrets = this.#inOrder(now).map(secretOf);
  }

  async #change(
    change: (keys: readonly StoredKey[]) => readonly StoredKey[],
  ): Promise<readonly StoredKey[]> {
    if (this.#shared === undefined) return change(this.#keys);
    let kept = this.#keys;
    const read = (body: unknown) => keyFile.parse(body);
    await this.#shared.change(sharedKey, read, (before) => {
      kept = change(before?.keys ?? []);
      return kept === before?.keys ? before : { keys: kept };
    });
    return kept;
  }

  #inOrder(now: Date): readonly StoredKey[] {
    const [newest, before] = this.#keys;
    const isYoung =
      now.getTime() - Date.parse(newest?.madeAt ?? "") < spreading;
    return this.#shared && isYoung && newest && before
      ? [before, newest]
      : this.#keys;
  }
}

/** The same list while no new key is due. */
function renewed(
  keys: readonly StoredKey[],
  now: Date,
  life: number,
): readonly StoredKey[] {
  const [newest] = keys;
  const madeAt = newest === undefined ? -Infinity : Date.parse(newest.madeAt);
  if (now.getTime() - madeAt < Math.max(signingTime, life)) return keys;
  const secret = randomBytes(32).toString("base64url");
  return [{ madeAt: now.toISOString(), secret }, ...keys.slice(0, 1)];
}

function secretOf({ secret }: StoredKey): Buffer {
  return Buffer.from(secret, "base64url");
}

/**
 * Reads the file; a damaged one counts as none. Clients with its URLs run init
 * again.
 */
async function readKeys({
  archiveUrlKeys,
}: StoreLayout): Promise<readonly StoredKey[]> {
  const text = (await readOwnFile(archiveUrlKeys)) ?? "";
  return readJson(keyFile, text)?.keys ?? [];
}

/** Returns the text of a file with a secret; undefined for a file that is missing. */
async function readOwnFile(path: string): Promise<string | undefined> {
  try {
    await using file = await open(path);
    const { mode } = await file.stat();
    if ((mode & 0o077) !== 0) throw new Error("others can read it: chmod 600");
    return await file.readFile("utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}
