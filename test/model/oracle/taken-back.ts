import type { ReleaseName } from "../world/documents.ts";
import { nameOfRelease } from "../world/publisher.ts";
import type { KeyName } from "../world/toy-keys.ts";

/** Signers that a registry publishes as no longer good, by release. */
export class TakenBack {
  /** Moments of the monotonic clock. */
  readonly #since = new Map<string, number>();
  readonly #ever = new Set<string>();
  /** Of which the mirror knows. */
  readonly #known = new Set<string>();

  /** Notes whether a signer is taken back now. */
  note(
    name: ReleaseName,
    signer: KeyName | undefined,
    isTakenBack: boolean,
    now: number,
  ): void {
    const id = idOf(name, signer);
    if (!isTakenBack) this.#since.delete(id);
    else if (!this.#since.has(id)) this.#since.set(id, now);
    if (isTakenBack) this.#ever.add(id);
  }

  /** Notes that the release was confirmed otherwise: its signers count from now on. */
  confirm(name: ReleaseName, now: number): void {
    const start = `${nameOfRelease(name)} `;
    for (const id of this.#since.keys())
      if (id.startsWith(start)) {
        this.#since.set(id, now);
        this.#known.delete(id);
      }
  }

  /** Notes that the mirror knows: it answered after it had asked. */
  noteKnown(name: ReleaseName, signer: KeyName | undefined): void {
    this.#known.add(idOf(name, signer));
  }

  /** Notes that the signer is published as good. */
  noteGood(name: ReleaseName, signer: KeyName | undefined): void {
    this.#known.delete(idOf(name, signer));
  }

  /** True until the signer is good again: what it signed can be admitted by no decision. */
  isKnown(name: ReleaseName, signer: KeyName | undefined): boolean {
    return this.#known.has(idOf(name, signer));
  }

  /** Finds since when a signer is taken back; undefined while it is not. */
  findSince(name: ReleaseName, signer: KeyName | undefined) {
    return this.#since.get(idOf(name, signer));
  }

  wasEver(name: ReleaseName, signer: KeyName | undefined): boolean {
    return this.#ever.has(idOf(name, signer));
  }
}

function idOf(name: ReleaseName, signer: KeyName | undefined): string {
  return `${nameOfRelease(name)} ${signer}`;
}
