import { LRUCache } from "lru-cache";
import type { Hostname } from "../../address/hostname.ts";
import { type Failure, isFailure } from "../../errors/index.ts";
import type { RecordStore } from "../../store/records/record-store.ts";
import { noCandidates, type Candidates } from "../../trust/candidates.ts";
import type { Decisions } from "../../trust/decisions.ts";
import type { NamespaceTrust, FirstContact } from "../../trust/state.ts";
import type { ProviderChanges } from "../cache/provider-changes.ts";
import { TrustEntry } from "./trust-entry.ts";
import {
  candidatesKey,
  readCandidates,
  writeCandidates,
  type Namespace,
  type ProviderName,
} from "./trust-records.ts";

/** Bytes of namespaces in memory; bounded because clients may request any. */
const memoryBytes = 16 * 1024 * 1024;

/** Candidates of one provider or module. */
export interface ProviderCandidates extends Candidates {
  readonly type: string;
}

/** A namespace with its trust, or why that is unknown. */
export type ReadNamespace = { readonly namespace: Namespace } & (
  | {
      readonly trust: NamespaceTrust;
      readonly candidates: readonly ProviderCandidates[];
    }
  | { readonly problem: Failure<"record-unreadable"> }
);

/** First contact with a provider, or why it is unknown. */
export type ReadContact = { readonly type: string } & (
  | { readonly contact: FirstContact }
  | { readonly problem: Failure<"record-unreadable"> }
);

/** First contacts, decisions and candidates of every namespace. */
export class TrustStore {
  readonly #records: RecordStore;
  readonly #changes: Pick<ProviderChanges, "note">;
  readonly #entries = new LRUCache<string, TrustEntry>({
    maxSize: memoryBytes,
    sizeCalculation: (entry) => Math.min(entry.weight, memoryBytes),
  });

  constructor(records: RecordStore, changes: Pick<ProviderChanges, "note">) {
    this.#records = records;
    this.#changes = changes;
  }

  /** Looks at the records of every namespace again: other processes may have changed them. */
  forget(): void {
    for (const entry of this.#entries.values()) entry.forget();
  }

  /** Opens the one entry of a namespace, which is current. */
  async open(namespace: Namespace): Promise<TrustEntry> {
    await this.#records.look();
    const entry = this.#entryOf(namespace);
    const before = entry.weight;
    await entry.renew();
    if (entry.weight !== before) this.#entries.set(nameOf(namespace), entry);
    return entry;
  }

  /** Reads the trust of a namespace; the same object while nothing changed. */
  async read(namespace: Namespace): Promise<NamespaceTrust> {
    return (await this.open(namespace)).trust;
  }

  /** Changes the decisions of operators, and writes what `beside` writes, in one transaction. Durable on return. */
  async decide(
    namespace: Namespace,
    change: (decisions: Decisions) => Decisions,
    beside?: () => Promise<void>,
  ): Promise<void> {
    await this.#entryOf(namespace).change((before) => {
      const decisions = change(before.decisions);
      return decisions === before.decisions ? before : { ...before, decisions };
    }, beside);
  }

  /** Calls `then` once what is being written counts. */
  whenCommitted(then: () => void): void {
    this.#records.whenCommitted(then);
  }

  async readCandidates(provider: ProviderName): Promise<Candidates> {
    const key = candidatesKey(provider);
    return (await this.#records.read(key, readCandidates)) ?? noCandidates;
  }

  /** Changes the candidates of a provider or module. Durable on return. */
  async changeCandidates(
    provider: ProviderName,
    change: (candidates: Candidates) => Candidates,
  ): Promise<void> {
    await this.#records.change(
      candidatesKey(provider),
      readCandidates,
      (before) => {
        const after = change(before ?? noCandidates);
        return after === before ||
          (before === undefined && after === noCandidates)
          ? before
          : writeCandidates(after);
      },
    );
  }

  /** Every namespace by name, then those with nothing but a first contact or candidates. */
  async list(): Promise<readonly Namespace[]> {
    const found = new Map<string, Namespace>();
    for (const table of ["namespaces", "first_contacts", "candidates"] as const)
      for (const [hostname, namespace = ""] of await this.#records.list(
        [table],
        2,
      )) {
        const one = { hostname: hostname as Hostname, namespace };
        found.set(nameOf(one), one);
      }
    return [...found.values()];
  }

  async *readAll(): AsyncGenerator<ReadNamespace> {
    for (const namespace of await this.list()) yield this.#readOne(namespace);
  }

  /** Reads the first contact with each provider of a namespace, or why it is unknown. */
  async readContacts(namespace: Namespace): Promise<readonly ReadContact[]> {
    const entry = await this.open(namespace);
    const types = await this.listTypes(namespace);
    const read = await Array.fromAsync(types, async (type) => {
      const contact = await entry
        .findContact(type)
        .catch((error: unknown) => asUnreadable(error));
      if (isFailure(contact, "record-unreadable"))
        return [{ type, problem: contact }];
      return contact === undefined ? [] : [{ type, contact }];
    });
    return read.flat();
  }

  async listCandidates(
    namespace: Namespace,
  ): Promise<readonly ProviderCandidates[]> {
    const { hostname, namespace: name } = namespace;
    const types = await this.#records.list(["candidates", hostname, name]);
    return Promise.all(
      types.flat().map(async (type) => ({
        type,
        ...(await this.readCandidates({ ...namespace, type })),
      })),
    );
  }

  async #readOne(namespace: Namespace): Promise<ReadNamespace> {
    try {
      const trust = await this.read(namespace);
      const candidates = await this.listCandidates(namespace);
      return { namespace, trust, candidates };
    } catch (error) {
      if (!isFailure(error, "record-unreadable")) throw error;
      return { namespace, problem: error };
    }
  }

  /** Lists the providers of a namespace with a first contact or a release. */
  async listTypes(namespace: Namespace): Promise<readonly string[]> {
    const { hostname, namespace: name } = namespace;
    const tables = ["first_contacts", "version_lists", "releases"] as const;
    const listed = tables.map((table) =>
      this.#records.list([table, hostname, name], 1),
    );
    const types = (await Promise.all(listed)).flat(2);
    return [...new Set(types)].toSorted();
  }

  /**
   * Returns the one entry of a namespace, so that concurrent requests see each
   * other's writes.
   */
  #entryOf({ hostname, namespace }: Namespace): TrustEntry {
    const name = nameOf({ hostname, namespace });
    const known = this.#entries.get(name);
    if (known !== undefined) return known;
    const place = { hostname, namespace };
    const entry = new TrustEntry(this.#records, place, this.#changes);
    this.#entries.set(name, entry);
    return entry;
  }
}

function asUnreadable(error: unknown): Failure<"record-unreadable"> {
  if (isFailure(error, "record-unreadable")) return error;
  throw error;
}

function nameOf({ hostname, namespace }: Namespace): string {
  return `${hostname}/${namespace}`;
}
