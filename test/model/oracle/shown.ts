import type { ReleaseName, SignedText } from "../world/documents.ts";
import { nameOfRelease } from "../world/publisher.ts";

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

  note(signed: SignedText, isVerified: boolean): ShownText {
    const name = nameOfRelease(signed);
    const texts = this.#texts.get(name) ?? new Map<string, ShownText>();
    this.#texts.set(name, texts);
    const id = `${signed.sha256sums} ${signed.signer} ${signed.signedAt}`;
    const text = texts.get(id) ?? {
      ...{ signed, isVerified, wasAcceptable: false },
    };
    text.isVerified ||= isVerified;
    texts.set(id, text);
    return text;
  }

  /** Lists what was shown under the name of a release. */
  of(name: ReleaseName): readonly ShownText[] {
    return [...(this.#texts.get(nameOfRelease(name))?.values() ?? [])];
  }
}
