import {
  nameOfRelease,
  type Digests,
  type ReleaseName,
  type SignedText,
} from "../world/documents.ts";
import type { KeyName } from "../world/toy-keys.ts";

/** A document that the mirror could have seen, by an origin or a bundle. */
export interface ShownText {
  readonly signed: SignedText;
  /** Its signature held, or its absence was excused, at some time when it was shown. */
  isVerified: boolean;
  /** It was verified and acceptable at some time. */
  wasAcceptable: boolean;
}

/** Everything that was ever shown of each release. */
export class Shown {
  readonly #texts = new Map<string, Map<string, ShownText>>();

  note(signed: SignedText, isVerified: boolean): void {
    const name = nameOfRelease(signed);
    const texts = this.#texts.get(name) ?? new Map<string, ShownText>();
    this.#texts.set(name, texts);
    const id = `${signed.sha256sums} ${signed.signer} ${signed.signedAt}`;
    const text = texts.get(id) ?? { signed, isVerified, wasAcceptable: false };
    text.isVerified ||= isVerified;
    texts.set(id, text);
  }

  /** Lists what was shown under the name of a release. */
  of(name: ReleaseName): readonly ShownText[] {
    return [...(this.#texts.get(nameOfRelease(name))?.values() ?? [])];
  }

  /** Lists what was acceptable of it at some time. */
  accepted(name: ReleaseName): readonly SignedText[] {
    return this.of(name)
      .filter(({ wasAcceptable }) => wasAcceptable)
      .map(({ signed }) => signed);
  }
}

interface FirstContent {
  /** By platform. */
  readonly digests: Map<string, string>;
  /** Who spoke for it when it was admitted: signers alone, or nobody. */
  by: "signers" | "nobody" | undefined;
  isLost: boolean;
}

/** Digests that clients got first, by release and platform. */
export class FirstServed {
  readonly #releases = new Map<string, FirstContent>();

  /** Notes what was served, unless something was served before, and who spoke for it. */
  note(
    name: ReleaseName,
    platform: string,
    sha256: string,
    signers: readonly (KeyName | undefined)[],
  ): void {
    const release = this.#of(name);
    const { digests, isLost } = release;
    if (digests.has(platform) || isLost) return;
    if (digests.size === 0) {
      if (signers.every((signer) => signer !== undefined))
        release.by = "signers";
      if (signers.every((signer) => signer === undefined))
        release.by = "nobody";
    }
    digests.set(platform, sha256);
  }

  /** Notes that the record of a release was lost, and its pinned checksums with it. */
  forget(name: ReleaseName): void {
    const lost = { digests: new Map(), by: undefined, isLost: true };
    this.#releases.set(nameOfRelease(name), lost);
  }

  /** True for a release that was admitted by its signers alone, or while nobody signed it. */
  wasBy(by: "signers" | "nobody", name: ReleaseName): boolean {
    return this.#of(name).by === by;
  }

  /** A process that runs may still know of a record that was lost. */
  isLost(name: ReleaseName): boolean {
    return this.#of(name).isLost;
  }

  find(name: ReleaseName, platform: string): string | undefined {
    return this.#of(name).digests.get(platform);
  }

  /** Digests of a release; none where nothing was served. */
  digestsOf(name: ReleaseName): Digests {
    return Object.fromEntries(this.#of(name).digests);
  }

  #of(name: ReleaseName): FirstContent {
    const id = nameOfRelease(name);
    const known = this.#releases.get(id);
    const release = known ?? {
      digests: new Map(),
      by: undefined,
      isLost: false,
    };
    this.#releases.set(id, release);
    return release;
  }
}

/** A signer of a release as a registry publishes it. */
interface PublishedSigner {
  /** Since when it is published as no longer good, on the monotonic clock; undefined while it is good. */
  since: number | undefined;
  /** It was no longer good at some time. */
  wasEver: boolean;
  /** The mirror knows, until the signer is good again: what it signed can be admitted by no decision. */
  isKnown: boolean;
}

/** Signers that a registry publishes as no longer good, by release. */
export class TakenBack {
  readonly #signers = new Map<
    string,
    Map<KeyName | undefined, PublishedSigner>
  >();

  of(name: ReleaseName, signer: KeyName | undefined): PublishedSigner {
    const id = nameOfRelease(name);
    const all =
      this.#signers.get(id) ?? new Map<KeyName | undefined, PublishedSigner>();
    this.#signers.set(id, all);
    const good = { since: undefined, wasEver: false, isKnown: false };
    const one = all.get(signer) ?? good;
    all.set(signer, one);
    return one;
  }

  /** Notes that the release was confirmed otherwise: its signers count from now on. */
  confirm(name: ReleaseName, now: number): void {
    const all = this.#signers.get(nameOfRelease(name))?.values() ?? [];
    for (const one of all)
      if (one.since !== undefined) {
        one.since = now;
        one.isKnown = false;
      }
  }
}
