import { randomBytes } from "node:crypto";
import { z } from "zod";
import { StoreUnusable } from "../errors/index.ts";
import { writeDurably } from "./durable-file.ts";
import { stagingPath, type StoreLayout } from "./layout.ts";
import { readOwnFile } from "./own-file.ts";

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

/**
 * The secrets of signed archive URLs. The newest one signs; the one before it
 * is kept until it is replaced in turn, so that what it signed lives out.
 */
export class ArchiveUrlKeys {
  readonly #layout: StoreLayout;
  #keys: readonly StoredKey[];
  #secrets: readonly Buffer[];

  private constructor(layout: StoreLayout, keys: readonly StoredKey[]) {
    this.#layout = layout;
    this.#keys = keys;
    this.#secrets = keys.map(secretOf);
  }

  /** Reads the keys, or makes the first one. Throws StoreUnusable, also when others can read the file. */
  static async open(layout: StoreLayout, now: Date): Promise<ArchiveUrlKeys> {
    try {
      const keys = new ArchiveUrlKeys(layout, await readKeys(layout));
      if (keys.#keys.length === 0) await keys.#add(now);
      return keys;
    } catch (error) {
      const { archiveUrlKeys } = layout;
      const reason = `${archiveUrlKeys}: ${(error as Error).message}`;
      throw new StoreUnusable(layout.directory, reason, { cause: error });
    }
  }

  /** Newest first; never empty. */
  get secrets(): readonly Buffer[] {
    return this.#secrets;
  }

  /** Makes a new key when the newest one has signed for 30 days, and longer than what it signed may live (`life` ms). */
  async renew(now: Date, life: number): Promise<void> {
    const [newest] = this.#keys;
    const madeAt = newest === undefined ? 0 : Date.parse(newest.madeAt);
    if (now.getTime() - madeAt >= Math.max(signingTime, life))
      await this.#add(now);
  }

  async #add(now: Date): Promise<void> {
    const secret = randomBytes(32).toString("base64url");
    const made = { madeAt: now.toISOString(), secret };
    const keys = [made, ...this.#keys.slice(0, 1)];
    const { archiveUrlKeys } = this.#layout;
    const staged = stagingPath(this.#layout, "key");
    await writeDurably(staged, archiveUrlKeys, `${JSON.stringify({ keys })}\n`);
    this.#keys = keys;
    this.#secrets = keys.map(secretOf);
  }
}

function secretOf({ secret }: StoredKey): Buffer {
  return Buffer.from(secret, "base64url");
}

/** A file that was cut or changed counts as none: clients whose URLs end with it run init again. */
async function readKeys({
  archiveUrlKeys,
}: StoreLayout): Promise<readonly StoredKey[]> {
  const text = (await readOwnFile(archiveUrlKeys)) ?? "";
  try {
    return keyFile.parse(JSON.parse(text)).keys;
  } catch {
    return [];
  }
}
