import { randomBytes } from "node:crypto";
import * as z from "zod";
import type { RecordKey, RecordStore } from "./record-store.ts";

/** A secret of 32 bytes in base64url, and when it was made. */
const storedKey = z.object({
  madeAt: z.iso.datetime(),
  secret: z.string().regex(/^[A-Za-z0-9_-]{43}$/),
});

/** Newest first. */
const shape = z.object({ keys: z.array(storedKey).min(1).max(2) });

/** Milliseconds for which a key signs, many times as long as a URL lives. */
const signingTime = 30 * 24 * 60 * 60 * 1000;

/** Milliseconds until all daemons on a database know a key, and it may sign. */
const spreading = 60_000;

const record: RecordKey = ["secrets", "archive-urls"];

/**
 * The secrets of signed archive URLs, which all daemons on a database have. The newest one signs; the one before it is
 * kept until it is replaced in turn, so that what it signed lives out.
 */
export class ArchiveUrlKeys {
  readonly #records: Pick<RecordStore, "change">;
  #secrets: readonly Buffer[] = [];

  private constructor(records: Pick<RecordStore, "change">) {
    this.#records = records;
  }

  /** Reads the keys, or makes the first one. */
  static async open(
    records: Pick<RecordStore, "change">,
    now: Date,
  ): Promise<ArchiveUrlKeys> {
    const keys = new ArchiveUrlKeys(records);
    await keys.renew(now);
    return keys;
  }

  /** The one that signs comes first; never empty. */
  get secrets(): readonly Buffer[] {
    return this.#secrets;
  }

  /** Reads the keys. Makes a new one when the newest has signed for 30 days. */
  async renew(now: Date): Promise<void> {
    let keys: z.infer<typeof shape>["keys"] = [];
    const ageOf = ({ madeAt }: { readonly madeAt: string }) =>
      now.getTime() - Date.parse(madeAt);
    const read = (body: unknown) => shape.parse(body);
    await this.#records.change(record, read, (before) => {
      keys = before?.keys ?? [];
      const [newest] = keys;
      if (newest && ageOf(newest) < signingTime) return before;
      const secret = randomBytes(32).toString("base64url");
      keys = [{ madeAt: now.toISOString(), secret }, ...keys.slice(0, 1)];
      return { keys };
    });
    const [newest] = keys;
    const isYoung = newest !== undefined && ageOf(newest) < spreading;
    this.#secrets = (isYoung ? keys.toReversed() : keys).map(({ secret }) =>
      Buffer.from(secret, "base64url"),
    );
  }
}
