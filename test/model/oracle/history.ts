import {
  nameOfRelease,
  type Digests,
  type ReleaseName,
  type SignedText,
} from "../world/documents.ts";
import type { KeyName } from "../world/toy-keys.ts";

/** The value of a key, made where there is none. */
function valueOf<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  const value = map.get(key) ?? make();
  map.set(key, value);
  return value;
}

/** A document that the mirror could have seen, by an origin or a bundle. */
export interface ShownText {
  readonly signed: SignedText;
  /** Its signature held, or its absence was excused, at some time when it was shown. */
  isVerified: boolean;
  /** It was verified and acceptable at some time. */
  wasAcceptable: boolean;
  /** It alone spoke for what was served, so the mirror keeps it: no bundle gives it back. */
  isKept: boolean;
  /** Which process was asked when, and found that the registry takes the signer back, and when others hear of it; undefined until then, and once it is good again. */
  takenAway:
    | { readonly by: number; readonly at: number; readonly heardAt: number }
    | undefined;
}

export function showText(signed: SignedText, isVerified: boolean): ShownText {
  return {
    ...{ signed, isVerified, wasAcceptable: false },
    ...{ isKept: false, takenAway: undefined },
  };
}

/** Everything that was ever shown of each release. */
export class Shown {
  readonly #texts = new Map<string, Map<string, ShownText>>();

  note(signed: SignedText, isVerified: boolean): ShownText {
    const texts = valueOf(
      this.#texts,
      nameOfRelease(signed),
      () => new Map<string, ShownText>(),
    );
    const id = `${signed.sha256sums} ${signed.signer} ${signed.signedAt}`;
    const text = valueOf(texts, id, () => showText(signed, isVerified));
    text.isVerified ||= isVerified;
    return text;
  }

  of(name: ReleaseName): readonly ShownText[] {
    return [...(this.#texts.get(nameOfRelease(name))?.values() ?? [])];
  }

  accepted(name: ReleaseName): readonly SignedText[] {
    return this.of(name)
      .filter(({ wasAcceptable }) => wasAcceptable)
      .map(({ signed }) => signed);
  }
}

/** Digests that clients got first of a release. */
class FirstContent {
  /** By platform. */
  readonly digests = new Map<string, string>();
  /** Who spoke for it when it was admitted: signers alone, or nobody. */
  by: "signers" | "nobody" | undefined;
  /** Its record was lost, and its pinned checksums with it; a process that runs may still know of it. */
  isLost = false;
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
    const release = this.of(name);
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

  forget(name: ReleaseName): void {
    this.#releases.delete(nameOfRelease(name));
    this.of(name).isLost = true;
  }

  of(name: ReleaseName): FirstContent {
    const make = () => new FirstContent();
    return valueOf(this.#releases, nameOfRelease(name), make);
  }

  digestsOf(name: ReleaseName): Digests {
    return Object.fromEntries(this.of(name).digests);
  }
}

/** A signer of a release as a registry publishes it. */
class PublishedSigner {
  /** Since when it is published as no longer good, on the monotonic clock; undefined while it is good. */
  since: number | undefined;
  /** It was no longer good at some time. */
  wasEver = false;
}

/** Signers that a registry publishes as no longer good, by release. */
export class TakenBack {
  readonly #signers = new Map<
    string,
    Map<KeyName | undefined, PublishedSigner>
  >();

  of(name: ReleaseName, signer: KeyName | undefined): PublishedSigner {
    return valueOf(this.#of(name), signer, () => new PublishedSigner());
  }

  /** Notes that the release was confirmed otherwise: its signers count from now on. */
  confirm(name: ReleaseName, now: number): void {
    for (const one of this.#of(name).values())
      if (one.since !== undefined) one.since = now;
  }

  #of(name: ReleaseName) {
    const make = () => new Map<KeyName | undefined, PublishedSigner>();
    return valueOf(this.#signers, nameOfRelease(name), make);
  }
}
