import type { KeyName } from "../world/toy-keys.ts";

/** Provider as a registry or a bundle showed it at one moment. */
export interface Contact {
  readonly versions: ReadonlySet<string>;
  /** Keys that were published then. */
  readonly published: ReadonlySet<KeyName>;
  /** Signer of the newest release that verified, if it was signed. */
  readonly key: KeyName | undefined;
  /** Wall clock. */
  readonly at: number;
  /** True for what may only be guessed: it excuses, and promises nothing. */
  readonly isGuess?: boolean;
}

/**
 * First contacts as far as answers show them: what was shown before the first good
 * answer may have been the first contact, what was shown after it was not.
 */
export class Contacts {
  readonly #possible = new Map<string, readonly Contact[]>();
  readonly #certain = new Set<string>();
  readonly #firstKeys = new Set<KeyName | undefined>();
  #isKnown = false;
  #revision = 0;

  /** Differs after each change of what is certain. */
  get revision(): number {
    return this.#revision;
  }

  /** Notes what the mirror may have made contact by. */
  note(type: string, contact: Contact | undefined, hasApproved: boolean): void {
    if (contact === undefined || this.#certain.has(type)) return;
    this.#possible.set(type, [...this.of(type), contact]);
    if (this.#isKnown) return;
    this.#firstKeys.add(contact.key);
    if (hasApproved) this.#firstKeys.add(undefined);
  }

  /** Notes that the mirror answered for a provider, so that contact was made. */
  settle(type: string): void {
    if (!this.#certain.has(type)) this.#revision++;
    this.#certain.add(type);
    this.#isKnown = true;
  }

  /** Notes what first contact may have been by, as the mirror remembers lists and releases for a while. */
  guess(type: string, known: readonly Contact[]): void {
    if (this.#certain.has(type)) return;
    this.#possible.set(type, [...this.of(type), ...known]);
    if (!this.#isKnown) for (const { key } of known) this.#firstKeys.add(key);
  }

  /** Lists what may have been first contact with a provider. */
  of(type: string): readonly Contact[] {
    return this.#possible.get(type) ?? [];
  }

  /** True when the key is that of the namespace's first contact in any case. */
  isSurelyFirst(key: KeyName): boolean {
    return (
      this.#isKnown && this.#firstKeys.size === 1 && this.#firstKeys.has(key)
    );
  }

  /** True when the key may be that of the namespace's first contact. */
  mayBeFirst(key: KeyName): boolean {
    return this.#firstKeys.has(key);
  }
}
