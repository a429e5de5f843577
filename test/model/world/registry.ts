import { hash } from "node:crypto";
import { parseVersion, newestFirst } from "../../../src/address/version.ts";
import {
  nameOfRelease,
  platforms,
  sign,
  versions,
  writeChecksums,
  type Digests,
  type ReleaseName,
  type SignedText,
} from "./documents.ts";
import { formatKeyBlock, type KeyName, type KeyState } from "./toy-keys.ts";

const [linux, windows, darwin] = platforms;
const month = 30 * 86_400_000;

/** What a publisher does with a release. */
export type Making = "publish" | "recreate" | "widen" | "sign-again";

/** The honest side: what a publisher made, with its own keys, in the order in which it was made. */
export class Publisher {
  readonly #releases = new Map<string, readonly SignedText[]>();
  /** Key that signs now; undefined while the publisher does not sign. */
  signer: KeyName | undefined;
  /** Keys that the publisher has the registry publish. */
  keys: readonly KeyName[];

  constructor(signer: KeyName | undefined) {
    this.signer = signer;
    this.keys = signer === undefined ? [] : [signer];
  }

  /** Lists everything that was made of a release, the current one last. */
  listMade(name: ReleaseName): readonly SignedText[] {
    return this.#releases.get(nameOfRelease(name)) ?? [];
  }

  findCurrent(name: ReleaseName): SignedText | undefined {
    return this.listMade(name).at(-1);
  }

  listVersions(type: string): readonly string[] {
    return [...this.#releases.values()]
      .flatMap((made) => made.at(-1) ?? [])
      .filter((signed) => signed.type === type)
      .map(({ version }) => version);
  }

  /**
   * Makes a release that does not exist yet, or of one that exists other archives, one more, or another signature with the key of today;
   * `extra` makes that another text.
   */
  make(kind: Making, name: ReleaseName, now: number, extra: string): void {
    const current = this.findCurrent(name);
    if ((current === undefined) !== (kind === "publish")) return;
    const made = this.listMade(name);
    const archive = (platform: string, ...number: readonly number[]) =>
      nameArchive("K", name, platform, ...number);
    const isNew = kind === "publish" || kind === "recreate";
    const digests: Digests = {
      ...(isNew
        ? {
            [linux]: archive(linux, made.length),
            [windows]: archive(windows, made.length),
          }
        : current?.digests),
      ...(kind === "widen" && { [darwin]: archive(darwin) }),
    };
    const again = kind === "sign-again" ? extra : "";
    const text = writeChecksums(name, digests) + again;
    const signed = sign(name, digests, this.signer, now, text);
    this.#releases.set(nameOfRelease(name), [...made, signed]);
  }

  rotate(): void {
    this.signer = this.signer === "K2" ? "K1" : "K2";
    this.keys = [...new Set([...this.keys, this.signer])];
  }

  retireOldKeys(): void {
    if (this.signer !== undefined) this.keys = [this.signer];
  }
}

/** A document that the registry offers, with the key blocks that it publishes for it. */
export interface Offer {
  readonly signed: SignedText;
  readonly blocks: readonly string[];
}

export interface OfferLie extends ReleaseName {
  readonly kind: "offer";
  /** What is offered under the name of a release; `shared` is in one document with other releases. */
  readonly content:
    "other" | "same" | "wider" | "narrower" | "mixed" | "shared";
  readonly signer: KeyName | undefined;
  readonly dated: "now" | "back";
  /** Whether blocks of the publisher's keys are published beside the signer's. */
  readonly keys: "beside" | "instead";
  /** Tells contents of one kind apart. */
  readonly variant: number;
}

/** Where something fails: lists, look-ups of a release, or its SHA256SUMS. */
export type FaultPlace = "list" | "release" | "sums";

/** Fault of an origin: 404 or no answer. */
type Fault = "gone" | "down";

/** Attacks of a registry on its clients. */
export type Lie =
  | OfferLie
  /** Offers something that the publisher made earlier. */
  | (ReleaseName & { readonly kind: "replay"; readonly which: number })
  | {
      readonly kind: "keys";
      readonly key: KeyName;
      readonly state: KeyState | "absent";
    }
  | (ReleaseName & { readonly kind: "hide" })
  | (ReleaseName & {
      readonly kind: "fail";
      readonly place: FaultPlace;
      readonly fault: Fault;
    })
  | { readonly kind: "down" | "heal" };

/** Answers with the publisher's releases, or with lies in their place. */
export class Registry {
  readonly publisher: Publisher;
  /** What else than the publisher made is offered. */
  readonly #offers = new Map<string, readonly [SignedText, OfferLie["keys"]]>();
  readonly #hidden = new Set<string>();
  readonly #keys = new Map<KeyName, KeyState | "absent">();
  readonly #faults = new Map<string, Fault>();
  #isDown = false;

  constructor(publisher: Publisher) {
    this.publisher = publisher;
  }

  /** Lies to its clients, or stops; `now` is the wall clock. */
  lie(lie: Lie, now: number): void {
    switch (lie.kind) {
      case "offer":
        this.#offers.set(nameOfRelease(lie), [this.forge(lie, now), lie.keys]);
        break;
      case "replay": {
        const made = this.publisher.listMade(lie);
        const earlier = made[lie.which % Math.max(1, made.length)];
        if (earlier !== undefined)
          this.#offers.set(nameOfRelease(lie), [earlier, "beside"]);
        break;
      }
      case "keys":
        this.#keys.set(lie.key, lie.state);
        break;
      case "hide":
        this.#hidden.add(nameOfRelease(lie));
        break;
      case "fail":
        this.#faults.set(placeOf(lie.place, lie), lie.fault);
        break;
      case "down":
        this.#isDown = true;
        break;
      case "heal":
        this.#offers.clear();
        this.#hidden.clear();
        this.#keys.clear();
        this.#faults.clear();
        this.#isDown = false;
    }
  }

  withdraw(name: ReleaseName): void {
    this.#offers.delete(nameOfRelease(name));
  }

  findFault(place: FaultPlace, name: ReleaseName): Fault | undefined {
    return this.#isDown ? "down" : this.#faults.get(placeOf(place, name));
  }

  /** True while all answers about a provider can be had. */
  answers(type: string): boolean {
    return (
      !this.#isDown &&
      this.#faults.keys().every((key) => !key.includes(` ${type}@`))
    );
  }

  listVersions(type: string): readonly string[] {
    const lying = [...this.#offers.values()]
      .filter(([signed]) => signed.type === type)
      .map(([signed]) => signed.version);
    const all = new Set([...this.publisher.listVersions(type), ...lying]);
    const shown = [...all].filter(
      (version) => !this.#hidden.has(nameOfRelease({ type, version })),
    );
    return newestFirst(shown.map(parseVersion));
  }

  findOffer(name: ReleaseName): Offer | undefined {
    const key = nameOfRelease(name);
    if (this.#hidden.has(key)) return undefined;
    const { keys: published } = this.publisher;
    const own = published.flatMap((name) => {
      const state = this.#keys.get(name);
      return state === "absent" ? [] : [formatKeyBlock(name, state)];
    });
    const lying = this.#offers.get(key);
    if (lying === undefined) {
      const signed = this.publisher.findCurrent(name);
      return signed && { signed, blocks: own };
    }
    const [signed, keys] = lying;
    const { signer } = signed;
    const blocks = keys === "beside" ? own : [];
    const isPublished =
      keys === "beside" && signer && published.includes(signer);
    return signer === undefined || isPublished
      ? { signed, blocks }
      : { signed, blocks: [...blocks, formatKeyBlock(signer)] };
  }

  /** Makes a document that the publisher did not make. */
  forge(lie: OfferLie, now: number): SignedText {
    const { content, signer, dated } = lie;
    const digests = this.#forgeDigests(lie);
    const signedAt = dated === "now" ? now : now - month;
    if (content !== "shared") return sign(lie, digests, signer, signedAt);
    // One document over every version of a provider.
    const parts = versions.map((version) => {
      const one: OfferLie = { ...lie, version, content: "other" };
      return writeChecksums(one, this.#forgeDigests(one));
    });
    return sign(lie, digests, signer, signedAt, parts.join(""));
  }

  #forgeDigests(lie: OfferLie): Digests {
    const evil = (platform: string) =>
      nameArchive("E", lie, platform, lie.variant);
    const honest = this.publisher.findCurrent(lie)?.digests;
    const other = { [linux]: evil(linux), [windows]: evil(windows) };
    if (honest === undefined) return other;
    switch (lie.content) {
      case "other":
      case "shared":
        return other;
      // The publisher's archives, under a key that is not its own.
      case "same":
        return honest;
      case "wider":
        return { ...honest, [darwin]: evil(darwin) };
      case "narrower":
        return { [linux]: honest[linux] ?? evil(linux) };
      case "mixed":
        return { ...honest, [windows]: evil(windows) };
    }
  }
}

/** The SHA-256 of an archive, by who made it. */
function nameArchive(
  maker: "K" | "E",
  name: ReleaseName,
  platform: string,
  ...number: readonly number[]
): string {
  const label = [maker, nameOfRelease(name), platform, ...number].join(" ");
  return hash("sha256", label);
}

function placeOf(place: FaultPlace, { type, version }: ReleaseName): string {
  return place === "list" ? `list ${type}@` : `${place} ${type}@${version}`;
}
