import { LRUCache } from "lru-cache";
import * as z from "zod";
import type { Hostname } from "../../address/hostname.ts";
import type { ProviderAddress } from "../../address/provider-address.ts";
import { type Failure, isFailure } from "../../errors/index.ts";
import { asStoreFull } from "../../store/file-failure.ts";
import type {
  RecordKey,
  RecordStore,
} from "../../store/records/record-store.ts";
import type { Candidate } from "../../trust/candidates.ts";
import type { Decisions } from "../../trust/decisions.ts";
import {
  candidateReasons,
  emptyNamespace,
  type FirstContact,
  type NamespaceTrust,
} from "../../trust/state.ts";
import type { ProviderChanges } from "../cache/provider-changes.ts";

/** HOSTNAME and NAMESPACE: the unit in which operators decide. */
export interface Namespace {
  readonly hostname: Hostname;
  readonly namespace: string;
}

/** Candidate of a provider, or of a module with NAME/SYSTEM as its type. */
export interface NamedCandidate extends Candidate {
  readonly type: string;
}

/** A namespace with its trust. */
export interface KnownNamespace {
  readonly namespace: Namespace;
  readonly trust: NamespaceTrust;
  readonly candidates: readonly NamedCandidate[];
}

/** First contact with a provider of a namespace. */
export interface KnownContact extends FirstContact {
  readonly type: string;
}

/** Why the trust of a namespace or the first contact with a provider is unknown. */
export interface Unknown {
  /** HOSTNAME/NAMESPACE, with the type of the provider. */
  readonly subject: string;
  readonly problem: Failure<"record-unreadable">;
}

/** Namespaces in memory, and versions of first contacts with their providers; bounded because clients may request any. */
const mostNamespaces = 1_000;
const mostVersions = 200_000;

/** First contacts in memory, by their keys. */
type Contacts = LRUCache<string, FirstContact>;

/** First contacts, decisions and candidates of every namespace. */
export class TrustStore {
  readonly #records: RecordStore;
  readonly #changes: ProviderChanges;
  readonly #entries = new LRUCache<string, TrustEntry>({
    max: mostNamespaces,
  });
  readonly #contacts: Contacts = new LRUCache({
    maxSize: mostVersions,
    sizeCalculation: ({ versions }) => versions.size + 1,
  });

  constructor(records: RecordStore, changes: ProviderChanges) {
    this.#records = records;
    this.#changes = changes;
  }

  /** Looks at the records of every namespace again: other processes may have changed them. */
  forget(): void {
    this.#contacts.clear();
    for (const entry of this.#entries.values()) entry.forget();
  }

  /** Opens the one entry of a namespace, which is current. */
  async open(namespace: Namespace): Promise<TrustEntry> {
    await this.#records.look();
    const entry = this.#entryOf(namespace);
    await entry.renew();
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

  /** The oldest first. */
  async readCandidates(
    provider: ProviderAddress,
  ): Promise<readonly Candidate[]> {
    const key = keyIn("candidates", provider);
    return (await this.#records.read(key, readCandidates))?.list ?? [];
  }

  /** Changes the candidates of a provider or module. Durable on return. */
  async changeCandidates(
    provider: ProviderAddress,
    change: (candidates: readonly Candidate[]) => readonly Candidate[],
  ): Promise<void> {
    const key = keyIn("candidates", provider);
    await this.#records.change(key, readCandidates, (before) => {
      const known = before?.list ?? [];
      const list = change(known);
      return list === known ? before : { list };
    });
  }

  /** Reads every namespace of which something is recorded, by name, or why its trust is unknown. */
  async *readAll(): AsyncGenerator<KnownNamespace | Unknown> {
    const found = new Map<string, Namespace>();
    for (const table of ["namespaces", "first_contacts", "candidates"] as const)
      for (const [hostname, namespace = ""] of await this.#records.list(
        [table],
        2,
      )) {
        const one = { hostname: hostname as Hostname, namespace };
        found.set(nameOf(one), one);
      }
    for (const [name, namespace] of found)
      yield await orUnknown(name, async () => {
        const trust = await this.read(namespace);
        const candidates = await this.listCandidates(namespace);
        return { namespace, trust, candidates };
      });
  }

  /** Reads the first contact with each provider of a namespace that has one, or why it is unknown. */
  async readContacts(
    namespace: Namespace,
  ): Promise<readonly (KnownContact | Unknown)[]> {
    const entry = await this.open(namespace);
    const { hostname, namespace: name } = namespace;
    const table = ["first_contacts", hostname, name] as const;
    const types = (await this.#records.list(table)).flat().toSorted();
    const read = await Array.fromAsync(types, (type) =>
      orUnknown(`${nameOf(namespace)}/${type}`, async () => {
        const contact = await entry.findContact(type);
        return contact && { ...contact, type };
      }),
    );
    return read.filter((one) => one !== undefined);
  }

  async listCandidates(
    namespace: Namespace,
  ): Promise<readonly NamedCandidate[]> {
    const { hostname, namespace: name } = namespace;
    const types = await this.#records.list(["candidates", hostname, name]);
    const read = types.flat().map(async (type) => {
      const list = await this.readCandidates({ ...namespace, type });
      return list.map((one) => ({ ...one, type }));
    });
    return (await Promise.all(read)).flat();
  }

  /** The one entry of a namespace, so that concurrent requests see each other's writes. */
  #entryOf({ hostname, namespace }: Namespace): TrustEntry {
    const name = nameOf({ hostname, namespace });
    const known = this.#entries.get(name);
    if (known !== undefined) return known;
    const place = { hostname, namespace };
    const entry = new TrustEntry(
      ...([this.#records, place, this.#changes, this.#contacts] as const),
    );
    this.#entries.set(name, entry);
    return entry;
  }
}

/** Trust of one namespace, for all its requests. */
export class TrustEntry {
  readonly #records: RecordStore;
  readonly #namespace: Namespace;
  readonly #changes: ProviderChanges;
  readonly #contacts: Contacts;
  #known: NamespaceTrust | undefined;
  #isCurrent = false;
  #renewal: Promise<void> | undefined;
  #writes = 0;

  constructor(
    records: RecordStore,
    namespace: Namespace,
    changes: ProviderChanges,
    contacts: Contacts,
  ) {
    this.#records = records;
    this.#namespace = namespace;
    this.#changes = changes;
    this.#contacts = contacts;
  }

  /** The same object while nothing changes. Only once `renew` has resolved. */
  get trust(): NamespaceTrust {
    if (this.#known === undefined) throw new Error("renew was not awaited");
    return this.#known;
  }

  /** Makes `trust` current. */
  async renew(): Promise<NamespaceTrust> {
    if (this.#isCurrent) return this.trust;
    this.#renewal ??= this.#load().finally(() => {
      this.#renewal = undefined;
    });
    await this.#renewal;
    return this.trust;
  }

  /** The next one reads it again. */
  forget(): void {
    this.#writes++;
    this.#isCurrent = false;
  }

  /** Finds the first contact with a provider; undefined before it. */
  async findContact(type: string): Promise<FirstContact | undefined> {
    const key = keyIn("first_contacts", { ...this.#namespace, type });
    const name = key.join("/");
    const known = this.#contacts.get(name);
    if (known !== undefined) return known;
    const writes = this.#writes;
    const contact = await this.#records.read(key, readContact);
    if (contact !== undefined && writes === this.#writes)
      this.#contacts.set(name, contact);
    return contact;
  }

  /**
   * Writes the first contact with a provider, what it teaches the namespace, and what `beside` writes, in one
   * transaction. Returns what is first: `contact`, or another one that was there, and nothing is written.
   */
  async createContact(
    type: string,
    contact: FirstContact,
    teach: (namespace: NamespaceTrust) => NamespaceTrust,
    beside: () => Promise<void>,
  ): Promise<FirstContact> {
    const key = keyIn("first_contacts", { ...this.#namespace, type });
    const versions = [...contact.versions];
    const body = { ...contact, versions, published: [...contact.published] };
    let first = contact;
    await this.#transact(async () => {
      first = contact;
      if ((await this.#records.swap(key, 0, body)) === undefined) {
        first = (await this.#records.read(key, readContact)) ?? contact;
        return undefined;
      }
      const taught = await this.#write(teach);
      await beside();
      return taught;
    });
    this.#contacts.set(key.join("/"), first);
    this.#changes.note(`${nameOf(this.#namespace)}/${type}`);
    return first;
  }

  /**
   * Changes the namespace, and writes what `beside` writes, in one transaction. No change of another process is lost, and
   * `change` may be called more than once. Durable on return.
   */
  async change(
    change: (namespace: NamespaceTrust) => NamespaceTrust,
    beside?: () => Promise<void>,
  ): Promise<void> {
    await this.#transact(async () => {
      const changed = await this.#write(change);
      await beside?.();
      return changed;
    });
  }

  /** What `work` makes of the namespace is known once all that it writes counts. */
  async #transact(
    work: () => Promise<NamespaceTrust | undefined>,
  ): Promise<void> {
    // The next one reads it again, also where this fails.
    this.#isCurrent = false;
    try {
      await this.#records.transact(async () => {
        const after = await work();
        // It may be a part of another transaction, which is taken back.
        this.#records.whenCommitted(() => {
          this.#writes++;
          if (after !== undefined) this.#know(after);
        });
      });
    } catch (error) {
      const name = nameOf(this.#namespace);
      throw asStoreFull(`the trust records of ${name}`, error);
    }
  }

  async #write(
    change: (namespace: NamespaceTrust) => NamespaceTrust,
  ): Promise<NamespaceTrust> {
    const key = namespaceKey(this.#namespace);
    let after = emptyNamespace;
    await this.#records.change(key, readNamespace, (before) => {
      after = change(before ?? emptyNamespace);
      return after;
    });
    return after;
  }

  async #load(): Promise<void> {
    for (;;) {
      const writes = this.#writes;
      const key = namespaceKey(this.#namespace);
      const trust = await this.#records.read(key, readNamespace);
      // This process wrote something meanwhile: read it again.
      if (writes !== this.#writes) continue;
      this.#know(trust ?? emptyNamespace);
      this.#isCurrent = true;
      return;
    }
  }

  /** Callers see by identity that nothing changed. */
  #know(trust: NamespaceTrust): void {
    if (JSON.stringify(this.#known) === JSON.stringify(trust)) return;
    this.#known = trust;
    this.#changes.note(nameOf(this.#namespace));
  }
}

async function orUnknown<T>(
  subject: string,
  read: () => Promise<T>,
): Promise<T | Unknown> {
  try {
    return await read();
  } catch (error) {
    if (!isFailure(error, "record-unreadable")) throw error;
    return { subject, problem: error };
  }
}

function nameOf({ hostname, namespace }: Namespace): string {
  return `${hostname}/${namespace}`;
}

function namespaceKey({ hostname, namespace }: Namespace): RecordKey {
  return ["namespaces", hostname, namespace];
}

function keyIn(
  table: "first_contacts" | "candidates",
  { hostname, namespace, type }: ProviderAddress,
): RecordKey {
  return [table, hostname, namespace, type];
}

const moment = z.iso.datetime();
const text = z.string();
const optionalText = orAbsent(text);

/** JSON leaves out what is undefined. */
function orAbsent<T extends z.ZodType>(shape: T) {
  return shape.nullish().transform((value) => value ?? undefined);
}

const decided = {
  decision: z.enum(["approved", "revoked"]),
  at: moment,
  by: text.optional(),
  why: text.optional(),
};
const namespaceShape = z.object({
  firstKey: orAbsent(z.object({ fingerprint: optionalText, type: text })),
  providerKeys: z.array(
    z.object({ type: text, version: text, fingerprint: text }),
  ),
  decisions: z.object({
    keys: z.array(
      z.object({
        ...{ fingerprint: text, ...decided },
        ...{ type: text.nullable(), version: text.nullable() },
      }),
    ),
    contents: z.array(
      z.object({ type: text, version: text, sha256sums: text, ...decided }),
    ),
  }),
});

const readNamespace = (body: unknown): NamespaceTrust =>
  namespaceShape.parse(body);

const contactShape = z.object({
  id: text,
  at: moment.transform((written) => new Date(written)),
  by: z.enum(["list", "bundle"]),
  versions: z.array(text).transform((all) => new Set(all)),
  published: z.array(text).transform((all) => new Set(all)),
  key: optionalText,
  newest: text,
});

const readContact = (body: unknown): FirstContact => contactShape.parse(body);

const candidatesShape = z.object({
  list: z.array(
    z.object({
      version: text,
      sha256sums: text,
      fingerprint: optionalText,
      reason: z.enum(candidateReasons),
      since: moment,
    }),
  ),
});

const readCandidates = (body: unknown) => candidatesShape.parse(body);
