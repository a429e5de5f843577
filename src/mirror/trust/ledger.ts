import { LRUCache } from "lru-cache";
import { whenKnown } from "../../concurrency/when-known.ts";
import type { Hostname } from "../../address/hostname.ts";
import { RecordUnreadable } from "../../errors/index.ts";
import { listRecorded } from "../releases/signed-releases.ts";
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

/** A namespace with what is known of it, or why that is unknown. */
type ReadNamespace = { readonly namespace: Namespace } & (
  { readonly trust: NamespaceTrust } | { readonly problem: RecordUnreadable }
);

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
    const found: Namespace[] = [];
    for (const kind of [seenPrefix, decisionsPrefix])
      for (const hostname of await this.#records.folders(kind))
        for (const namespace of await this.#records.list([...kind, hostname]))
          found.push({ hostname: hostname as Hostname, namespace });
    return sortOut(found);
  }

  /** Each of them, and of one whose records cannot be believed why; also of one that has none and releases that were recorded with some. */
  async *readAll(): AsyncGenerator<ReadNamespace> {
    const begun = await this.list();
    const names = new Set(begun.map(nameOf));
    const recorded = await listRecorded(this.#records);
    for (const namespace of sortOut([...begun, ...recorded])) {
      const one = await this.#tell(namespace);
      if (names.has(nameOf(namespace)) || "problem" in one) yield one;
    }
  }

  async #tell(namespace: Namespace): Promise<ReadNamespace> {
    try {
      return { namespace, trust: await this.read(namespace) };
    } catch (error) {
      if (!(error instanceof RecordUnreadable)) throw error;
      return { namespace, problem: error };
    }
  }

  /** One for all requests at once, so that each has what the others note. */
  #entryOf(asked: Namespace): LedgerEntry {
    const known = this.#entries.get(nameOf(asked));
    if (known !== undefined) return known.entry;
    const { hostname, namespace } = asked;
    const place = { hostname, namespace };
    const entry = new LedgerEntry(this.#records, place, this.#now);
    this.#keep(place, entry);
    return entry;
  }

  /** Keeps the entry in memory, under what it weighs by now. */
  #keep(namespace: Namespace, entry: LedgerEntry): void {
    const name = nameOf(namespace);
    const { weight } = entry;
    if (this.#entries.peek(name)?.weight === weight) return;
    const size = Math.min(weight, memoryBytes);
    this.#entries.set(name, { entry, weight }, { size });
  }
}

function nameOf({ hostname, namespace }: Namespace): string {
  return `${hostname}/${namespace}`;
}

/** Each once, by name. */
function sortOut(namespaces: readonly Namespace[]): readonly Namespace[] {
  const named = new Map(namespaces.map((one) => [nameOf(one), one]));
  return [...named]
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([, namespace]) => namespace);
}
