import { LRUCache } from "lru-cache";
import type { DatabaseRecords } from "../database/database-records.ts";
import type { RecordKey } from "../layout.ts";
import type { Sealed } from "../records/seal.ts";
import type { SeenRecords } from "./bucket-records.ts";

/** Records that a disk would not take, and that are remembered all the same. */
const mostUnwritten = 1_000;

/** The newest of each record that a replica saw in the bucket, in its own directory, where an older one never takes its place. */
export class RecordMemory implements SeenRecords {
  readonly #local: DatabaseRecords;
  readonly #unwritten = new LRUCache<string, Sealed>({ max: mostUnwritten });

  constructor(local: DatabaseRecords) {
    this.#local = local;
  }

  async recall(key: RecordKey): Promise<Sealed | undefined> {
    const unwritten = this.#unwritten.get(key.join("/"));
    return newerOf(unwritten, await this.#local.recall(key));
  }

  async remember(key: RecordKey, sealed: Sealed): Promise<void> {
    const name = key.join("/");
    const newest = newerOf(this.#unwritten.get(name), sealed) ?? sealed;
    try {
      await this.#local.keep(key, newest);
      this.#unwritten.delete(name);
    } catch {
      this.#unwritten.set(name, newest);
    }
  }
}

/** The first one where both are as new. */
function newerOf(
  one: Sealed | undefined,
  other: Sealed | undefined,
): Sealed | undefined {
  return (one?.revision ?? -1) >= (other?.revision ?? -1) ? one : other;
}
