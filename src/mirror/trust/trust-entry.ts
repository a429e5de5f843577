import { asStoreFull } from "../../store/file-failure.ts";
import type { RecordStore } from "../../store/records/record-store.ts";
import type { Decisions } from "../../trust/decisions.ts";
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
  type NamespaceBody,
} from "./trust-records.ts";

/** Bytes of an empty entry, of each item in it, and of each version of a contact. */
const emptyWeight = 1_000;
const weightOfOne = 300;
const weightOfVersion = 40;

const begun: NamespaceBody = {
  ...emptyNamespace,
  contacts: [],
};

/** Trust of one namespace, for all its requests. */
export class TrustEntry {
  readonly #records: RecordStore;
  readonly #namespace: Namespace;
  readonly #contacts = new Map<string, FirstContact>();
  #known: NamespaceBody | undefined;
  #isCurrent = false;
  #renewal: Promise<void> | undefined;
  #changes = 0;

  constructor(records: RecordStore, namespace: Namespace) {
    this.#records = records;
    this.#namespace = namespace;
  }

  /** The same object while nothing changes. Only once `renew` has resolved. */
  get trust(): NamespaceBody {
    if (this.#known === undefined) throw new Error("renew was not awaited");
    return this.#known;
  }

  /** Bytes of memory, about. */
  get weight(): number {
    const { providerKeys, decisions, contacts } = this.#known ?? begun;
    const { keys, contents } = decisions;
    const items = [providerKeys, keys, contents, contacts];
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
    this.#changes++;
    this.#isCurrent = false;
  }

  /** Finds the first contact with a provider; undefined before it. */
  async findContact(type: string): Promise<FirstContact | undefined> {
    const known = this.#contacts.get(type);
    const noted = this.trust.contacts.find((one) => one.type === type);
    // Another replica may have been first.
    if (known !== undefined && known.id === noted?.id) return known;
    const key = contactKey({ ...this.#namespace, type });
    const contact = await this.#records.read(key, readContact);
    if (contact !== undefined) return this.#rememberContact(type, contact);
    return undefined;
  }

  /** Writes the first contact with a provider, once: returns what is first. Durable on return. */
  async createContact(
    type: string,
    contact: FirstContact,
  ): Promise<FirstContact> {
    const key = contactKey({ ...this.#namespace, type });
    const body = writeContact(contact);
    const first = await this.#write(() =>
      this.#records.create(key, body, readContact),
    );
    return this.#rememberContact(type, first);
  }

  /** True once `noteContact` was called with this first contact. */
  isNoted(type: string, { id }: FirstContact): boolean {
    return this.trust.contacts.some(
      (one) => one.type === type && one.id === id,
    );
  }

  /** Records that a first contact was written and reported. */
  async noteContact(type: string, { id }: FirstContact): Promise<void> {
    const isOther = (one: { readonly type: string }) => one.type !== type;
    await this.change(({ contacts, ...namespace }) => ({
      ...namespace,
      contacts: [...contacts.filter(isOther), { type, id }],
    }));
  }

  /**
   * Changes the namespace; no change of another replica is lost, and `change` may be called more than once. Durable
   * on return.
   */
  async change(
    change: (namespace: NamespaceBody) => NamespaceBody,
  ): Promise<void> {
    await this.renew();
    // The next one reads it again, also where this fails.
    this.#isCurrent = false;
    const key = namespaceKey(this.#namespace);
    let after = begun;
    await this.#write(() =>
      this.#records.change(key, readNamespace, (before) => {
        after = change(before ?? begun);
        return after === before ? before : writeNamespace(after);
      }),
    );
    this.#changes++;
    this.#know(after);
  }

  /** Changes the decisions of operators, likewise. */
  async decide(change: (decisions: Decisions) => Decisions): Promise<void> {
    await this.change((namespace) => {
      const decisions = change(namespace.decisions);
      return decisions === namespace.decisions
        ? namespace
        : { ...namespace, decisions };
    });
  }

  async #load(): Promise<void> {
    for (;;) {
      const changes = this.#changes;
      const trust = await this.#read();
      // This process wrote something meanwhile: read it again.
      if (changes !== this.#changes) continue;
      this.#know(trust);
      this.#isCurrent = true;
      return;
    }
  }

  async #read(): Promise<NamespaceBody> {
    const key = namespaceKey(this.#namespace);
    return (await this.#records.read(key, readNamespace)) ?? begun;
  }

  /** Callers see by identity that nothing changed. */
  #know(trust: NamespaceBody): void {
    const isSame =
      this.#known !== undefined &&
      JSON.stringify(this.#known) === JSON.stringify(trust);
    if (!isSame) this.#known = trust;
  }

  #rememberContact(type: string, contact: FirstContact): FirstContact {
    this.#contacts.set(type, contact);
    return contact;
  }

  async #write<T>(write: () => Promise<T>): Promise<T> {
    try {
      return await write();
    } catch (error) {
      const { hostname, namespace } = this.#namespace;
      const subject = `the trust records of ${hostname}/${namespace}`;
      throw asStoreFull(subject, error);
    }
  }
}
