import type { ProviderChanges } from "../cache/provider-changes.ts";
import { asStoreFull } from "../../store/file-failure.ts";
import type { RecordStore } from "../../store/records/record-store.ts";
import {
  emptyNamespace,
  type FirstContact,
  type NamespaceTrust,
} from "../../trust/state.ts";
import {
  contactKey,
  namespaceKey,
  readContact,
  readNamespace,
  writeContact,
  writeNamespace,
  type Namespace,
} from "./trust-records.ts";

/** Bytes of an empty entry, of each item in it, and of each version of a contact. */
const emptyWeight = 1_000;
const weightOfOne = 300;
const weightOfVersion = 40;

/** Trust of one namespace, for all its requests. */
export class TrustEntry {
  readonly #records: RecordStore;
  readonly #namespace: Namespace;
  readonly #changes: Pick<ProviderChanges, "note">;
  readonly #contacts = new Map<string, FirstContact>();
  #known: NamespaceTrust | undefined;
  #isCurrent = false;
  #renewal: Promise<void> | undefined;
  #writes = 0;

  constructor(
    records: RecordStore,
    namespace: Namespace,
    changes: Pick<ProviderChanges, "note">,
  ) {
    this.#records = records;
    this.#namespace = namespace;
    this.#changes = changes;
  }

  /** The same object while nothing changes. Only once `renew` has resolved. */
  get trust(): NamespaceTrust {
    if (this.#known === undefined) throw new Error("renew was not awaited");
    return this.#known;
  }

  /** Bytes of memory, about. */
  get weight(): number {
    const { providerKeys, decisions } = this.#known ?? emptyNamespace;
    const { keys, contents } = decisions;
    const items = [providerKeys, keys, contents];
    const count = items.reduce((sum, list) => sum + list.length, 0);
    const versions = this.#contacts
      .values()
      .reduce((sum, contact) => sum + contact.versions.size, 0);
    return emptyWeight + weightOfOne * count + weightOfVersion * versions;
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
    this.#contacts.clear();
  }

  /** Finds the first contact with a provider; undefined before it. */
  async findContact(type: string): Promise<FirstContact | undefined> {
    const known = this.#contacts.get(type);
    if (known !== undefined) return known;
    const writes = this.#writes;
    const key = contactKey({ ...this.#namespace, type });
    const contact = await this.#records.read(key, readContact);
    if (contact !== undefined && writes === this.#writes)
      this.#contacts.set(type, contact);
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
    const key = contactKey({ ...this.#namespace, type });
    const body = writeContact(contact);
    let first = contact;
    await this.#change(async (teachIt) => {
      first = contact;
      if ((await this.#records.swap(key, 0, body)) === undefined) {
        first = (await this.#records.read(key, readContact)) ?? contact;
        return;
      }
      await teachIt(teach);
      await beside();
    });
    this.#contacts.set(type, first);
    this.#changes.note(`${this.#name}/${type}`);
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
    await this.#change(async (changeIt) => {
      await changeIt(change);
      await beside?.();
    });
  }

  /** What `work` makes of the namespace is known once all that it writes counts. */
  async #change(
    work: (
      changeIt: (
        change: (namespace: NamespaceTrust) => NamespaceTrust,
      ) => Promise<void>,
    ) => Promise<void>,
  ): Promise<void> {
    const key = namespaceKey(this.#namespace);
    let after: NamespaceTrust | undefined;
    const changeIt = (change: (namespace: NamespaceTrust) => NamespaceTrust) =>
      this.#records.change(key, readNamespace, (before) => {
        after = change(before ?? emptyNamespace);
        return after === before ? before : writeNamespace(after);
      });
    // The next one reads it again, also where this fails.
    this.#isCurrent = false;
    try {
      await this.#records.transact(() => work(changeIt));
    } catch (error) {
      throw asStoreFull(`the trust records of ${this.#name}`, error);
    }
    this.#writes++;
    if (after !== undefined) this.#know(after);
  }

  async #load(): Promise<void> {
    for (;;) {
      const writes = this.#writes;
      const trust = await this.#read();
      // This process wrote something meanwhile: read it again.
      if (writes !== this.#writes) continue;
      this.#know(trust);
      this.#isCurrent = true;
      return;
    }
  }

  async #read(): Promise<NamespaceTrust> {
    const key = namespaceKey(this.#namespace);
    return (await this.#records.read(key, readNamespace)) ?? emptyNamespace;
  }

  /** Callers see by identity that nothing changed. */
  #know(trust: NamespaceTrust): void {
    const isSame =
      this.#known !== undefined &&
      JSON.stringify(this.#known) === JSON.stringify(trust);
    if (isSame) return;
    this.#known = trust;
    this.#changes.note(this.#name);
  }

  get #name(): string {
    const { hostname, namespace } = this.#namespace;
    return `${hostname}/${namespace}`;
  }
}
