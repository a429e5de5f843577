import { LRUCache } from "lru-cache";
import type { ProviderAddress } from "../../address/provider-address.ts";
import type { RecordStore } from "../../store/records/record-store.ts";

/** Providers in memory; bounded because clients may request any. */
const mostProviders = 10_000;

/**
 * Numbers the changes of what is known of each provider, by this process and by others. What was made of it is good for
 * as long as the number and the rules are the same.
 */
export class ProviderChanges {
  readonly #records: RecordStore;
  /** By HOSTNAME/NAMESPACE/TYPE, and by HOSTNAME/NAMESPACE for all of these. */
  readonly #numbers = new LRUCache<string, number>({
    maxSize: mostProviders,
    // What is forgotten counts as changed.
    dispose: (number) => (this.#ofAll = Math.max(this.#ofAll, number)),
    noDisposeOnSet: true,
  });
  #last = 0;
  #ofAll = 0;

  constructor(records: RecordStore) {
    this.#records = records;
  }

  /** Differs after each change. */
  async numberOf(provider: ProviderAddress): Promise<number> {
    await this.#records.look();
    const { hostname, namespace, type } = provider;
    const shared = this.#numbers.get(`${hostname}/${namespace}`) ?? 0;
    const own = this.#numbers.get(`${hostname}/${namespace}/${type}`) ?? 0;
    return Math.max(this.#ofAll, shared, own);
  }

  /** Takes a provider, or all of a namespace, for changed. */
  note(name: string): void {
    this.#numbers.set(name, ++this.#last, { size: 1 });
  }

  /** The same by the name of a record, whatever it has of a provider. */
  noteRecord(record: string): void {
    const name = tables.exec(record)?.[1];
    if (name !== undefined) this.note(name);
  }

  /** Records that other processes may have changed; undefined for all. */
  noteRecords(changed: ReadonlySet<string> | undefined): void {
    if (changed === undefined) this.#ofAll = ++this.#last;
    changed?.forEach((record) => this.noteRecord(record));
  }
}

const tables =
  /^(?:namespaces|first_contacts|version_lists|releases|refused_versions)\/([^/]+\/[^/]+(?:\/[^/]+)?)/;
