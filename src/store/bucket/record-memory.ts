import { LRUCache } from "lru-cache";
import { KeyedLimit } from "../../concurrency/keyed-limit.ts";
import type { RecordKey, StoreLayout } from "../layout.ts";
import { readSettled, replaceCopies } from "../records/record-copies.ts";
import type { Sealed } from "../records/seal.ts";
import type { SeenRecords } from "./bucket-records.ts";

/** Records that a disk would not take, and that are remembered all the same. */
const mostUnwritten = 1_000;

/** Records that are written at once, each with an open file. */
const mostWrites = 16;

/** The newest of each record that a replica saw in the bucket, in its own directory, where an older one never takes its place. */
export class RecordMemory implements SeenRecords {
  readonly #layout: StoreLayout;
  readonly #turns = new KeyedLimit(mostWrites, 1);
  readonly #unwritten = new LRUCache<string, Sealed>({ max: mostUnwritten });

  constructor(layout: StoreLayout) {
    this.#layout = layout;
  }

  async recall(key: RecordKey): Promise<Sealed | undefined> {
    return newerOf(this.#unwritten.get(key.join("/")), await this.#read(key));
  }

  async remember(key: RecordKey, sealed: Sealed): Promise<void> {
    const name = key.join("/");
    const newest = newerOf(this.#unwritten.get(name), sealed) ?? sealed;
    try {
      await this.#turns.run(name, async () => {
        if (newerOf(await this.#read(key), newest) !== newest) return;
        await replaceCopies(this.#layout, key, newest);
      });
      this.#unwritten.delete(name);
    } catch {
      this.#unwritten.set(name, newest);
    }
  }

  async #read(key: RecordKey): Promise<Sealed | undefined> {
    const found = await readSettled(this.#layout, key);
    return found.kind === "good" ? found.sealed : undefined;
  }
}

/** The first one where both are as new. */
function newerOf(
  one: Sealed | undefined,
  other: Sealed | undefined,
): Sealed | undefined {
  return (one?.revision ?? -1) >= (other?.revision ?? -1) ? one : other;
}
