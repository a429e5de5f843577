import { parseVersion, newestFirst } from "../../../src/address/version.ts";
import type { ReleaseName, SignedText } from "./documents.ts";
import { nameOfRelease, type Publisher } from "./publisher.ts";
import { formatKeyBlock, type KeyName, type KeyState } from "./toy-keys.ts";

/** A document that the registry offers, with the key blocks that it publishes for it. */
export interface Offer {
  readonly signed: SignedText;
  readonly blocks: readonly string[];
}

/** Something else than the publisher made, under the name of a release. */
export interface LyingOffer {
  readonly signed: SignedText;
  /** Blocks of the publisher's keys are published beside it, or not. */
  readonly keys: "beside" | "instead";
}

/** Fault of an origin: 404 or no answer. */
export type Fault = "gone" | "down";

/** Where something fails: lists, look-ups of a release, or its SHA256SUMS. */
export type FaultPlace = "list" | "release" | "sums";

/** Answers with the publisher's releases, or with lies in their place. */
export class Registry {
  readonly publisher: Publisher;
  readonly #offers = new Map<string, LyingOffer>();
  readonly #hidden = new Set<string>();
  readonly #keys = new Map<KeyName, KeyState | "absent">();
  readonly #faults = new Map<string, Fault>();
  /** True while nothing answers. */
  isDown = false;
  /** Counted up with each lie, and where one ends. */
  changes = 0;

  constructor(publisher: Publisher) {
    this.publisher = publisher;
  }

  offer(name: ReleaseName, offer: LyingOffer): void {
    this.#offers.set(nameOfRelease(name), offer);
  }

  withdraw(name: ReleaseName): void {
    this.changes++;
    this.#offers.delete(nameOfRelease(name));
  }

  hide(name: ReleaseName): void {
    this.#hidden.add(nameOfRelease(name));
  }

  publishKey(key: KeyName, state: KeyState | "absent"): void {
    this.#keys.set(key, state);
  }

  fail(place: FaultPlace, name: ReleaseName, fault: Fault): void {
    this.#faults.set(placeOf(place, name), fault);
  }

  /** Ends all lies and faults: what is offered is what the publisher made. */
  heal(): void {
    this.changes++;
    this.#offers.clear();
    this.#hidden.clear();
    this.#keys.clear();
    this.#faults.clear();
    this.isDown = false;
  }

  findFault(place: FaultPlace, name: ReleaseName): Fault | undefined {
    return this.isDown ? "down" : this.#faults.get(placeOf(place, name));
  }

  /** True while all answers about a provider can be had. */
  answers(type: string): boolean {
    return (
      !this.isDown &&
      this.#faults.keys().every((key) => !key.includes(` ${type}@`))
    );
  }

  /** Lists the versions that are offered, newest first. */
  listVersions(type: string): readonly string[] {
    const lying = [...this.#offers.values()]
      .filter(({ signed }) => signed.type === type)
      .map(({ signed }) => signed.version);
    const all = new Set([...this.publisher.listVersions(type), ...lying]);
    const shown = [...all].filter(
      (version) => !this.#hidden.has(nameOfRelease({ type, version })),
    );
    return newestFirst(shown.map(parseVersion));
  }

  findOffer(name: ReleaseName): Offer | undefined {
    const key = nameOfRelease(name);
    if (this.#hidden.has(key)) return undefined;
    const lie = this.#offers.get(key);
    if (lie !== undefined)
      return { signed: lie.signed, blocks: this.#blocksOf(lie) };
    const signed = this.publisher.findCurrent(name);
    return signed && { signed, blocks: this.#ownBlocks() };
  }

  #ownBlocks(): readonly string[] {
    return this.publisher.keys.flatMap((name) => {
      const state = this.#keys.get(name) ?? "valid";
      return state === "absent" ? [] : [formatKeyBlock({ name, state })];
    });
  }

  #blocksOf({ signed: { signer }, keys }: LyingOffer): readonly string[] {
    const own = keys === "beside" ? this.#ownBlocks() : [];
    if (signer === undefined || this.publisher.keys.includes(signer))
      return keys === "beside" || signer === undefined
        ? own
        : [formatKeyBlock({ name: signer, state: "valid" })];
    return [...own, formatKeyBlock({ name: signer, state: "valid" })];
  }
}

function placeOf(place: FaultPlace, { type, version }: ReleaseName): string {
  return place === "list" ? `list ${type}@` : `${place} ${type}@${version}`;
}
