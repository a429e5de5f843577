import { LRUCache } from "lru-cache";
import { whenKnown } from "../../concurrency/when-known.ts";
import type { Hostname } from "../../address/hostname.ts";
import type { RecordStore } from "../../store/records/record-store.ts";
import {
  decisionsPrefix,
  LedgerEntry,
  seenPrefix,
  type Namespace,
} from "./ledger-entry.ts";
import type { Decisions, NamespaceTrust } from "./namespace-trust.ts";

/** Clients may ask for any namespace, so memory is bounded: 16 MiB. */
const memoryBytes = 16 * 1024 * 1024;

interface Weighed {
  readonly entry: LedgerEntry;
  /** Bytes when it was last opened. */
  readonly weight: number;
}

/**
 * What the mirror saw of each namespace's keys, and what operators decided.
 * The two are separate records: mirrors write what they saw, the `trust` command
 * writes decisions, also while a daemon runs.
 */
export class TrustLedger {
  readonly #records: RecordStore;
  readonly #now: () => number;
  readonly #entries = new LRUCache<string, Weighed>({
    maxSize: memoryBytes,
  });

  /** `now` is monotonic, in milliseconds. */
  constructor(
    records: RecordStore,
    now: () => number = () => performance.now(),
  ) {
    this.#records = records;
    this.#now = now;
  }

  /** The one entry of a namespace, at most half a second old. Throws RecordUnreadable. */
  open(namespace: Namespace): LedgerEntry | Promise<LedgerEntry> {
    const entry = this.#entryOf(namespace);
    return whenKnown(entry.renew(), () => {
      this.#keep(namespace, entry);
      return entry;
    });
  }

  /** The same object as before while nothing changed. Throws RecordUnreadable. */
  async read(namespace: Namespace): Promise<NamespaceTrust> {
    return (await this.open(namespace)).trust;
  }

  /** Changes what operators decided; no change of any process is lost. Durable on return. Throws RecordUnreadable and StoreFull. */
  async decide(
    namespace: Namespace,
    change: (decisions: Decisions) => Decisions,
  ): Promise<void> {
    await this.#entryOf(namespace).decide(change);
  }

  /** Every namespace of which something is known, sorted. */
  async list(): Promise<readonly Namespace[]> {
    const found = new Map<string, Namespace>();
    for (const kind of [seenPrefix, decisionsPrefix])
      for (const hostname of await this.#records.folders(kind))
        for (const namespace of await this.#records.list([...kind, hostname]))
          found.set(`${hostname}/${namespace}`, {
            hostname: hostname as Hostname,
            namespace,
          });
    return [...found.keys()].toSorted().flatMap((name) => {
      const namespace = found.get(name);
      return namespace ? [namespace] : [];
    });
  }

  /** One for all requests at once, so that each has what the others note. */
  #entryOf({ hostname, namespace }: Namespace): LedgerEntry {
    const known = this.#entries.get(`${hostname}/${namespace}`);
    if (known !== undefined) return known.entry;
    const place = { hostname, namespace };
    const entry = new LedgerEntry(this.#records, place, this.#now);
    this.#keep(place, entry);
    return entry;
  }

  /** Keeps the entry in memory, under what it weighs by now. */
  #keep({ hostname, namespace }: Namespace, entry: LedgerEntry): void {
    const name = `${hostname}/${namespace}`;
    const { weight } = entry;
    if (this.#entries.peek(name)?.weight === weight) return;
    const size = Math.min(weight, memoryBytes);
    this.#entries.set(name, { entry, weight }, { size });
  }
}
