import type { Face } from "../world/answers.ts";
import { platforms, type ReleaseName } from "../world/documents.ts";
import { nameOfRelease } from "../world/publisher.ts";
import type { KeyName } from "../world/toy-keys.ts";

/** Something that a client was given. */
export interface ServedArchive extends ReleaseName {
  readonly face: Face;
  readonly platform: string;
  readonly sha256: string;
}

/** Digests that clients got first, by release and platform. */
export class FirstServed {
  readonly #digests = new Map<string, string>();
  readonly #signed = new Set<string>();
  readonly #unsigned = new Set<string>();
  readonly #lost = new Set<string>();

  /** Notes what was served, unless something was served before, and who spoke for it. */
  note(
    name: ReleaseName,
    platform: string,
    sha256: string,
    signers: readonly (KeyName | undefined)[],
  ): void {
    const isKnown = this.find(name, platform) !== undefined;
    if (isKnown || this.isLost(name)) return;
    if (this.list(name).length === 0) {
      if (signers.every((signer) => signer !== undefined))
        this.#signed.add(nameOfRelease(name));
      if (signers.every((signer) => signer === undefined))
        this.#unsigned.add(nameOfRelease(name));
    }
    this.#digests.set(idOf(name, platform), sha256);
  }

  /** Notes that the record of a release was lost, and its pinned checksums with it. */
  forget(name: ReleaseName): void {
    for (const platform of platforms)
      this.#digests.delete(idOf(name, platform));
    this.#lost.add(nameOfRelease(name));
    this.#signed.delete(nameOfRelease(name));
    this.#unsigned.delete(nameOfRelease(name));
  }

  /** True for a release that was admitted by its signers alone. */
  isSigned(name: ReleaseName): boolean {
    return this.#signed.has(nameOfRelease(name));
  }

  /** True for a release that was admitted while nobody signed it. */
  isUnsigned(name: ReleaseName): boolean {
    return this.#unsigned.has(nameOfRelease(name));
  }

  /** A process that runs may still know of a record that was lost. */
  isLost(name: ReleaseName): boolean {
    return this.#lost.has(nameOfRelease(name));
  }

  find(name: ReleaseName, platform: string): string | undefined {
    return this.#digests.get(idOf(name, platform));
  }

  /** Lists the digests of a release, by platform. */
  list(name: ReleaseName): readonly (readonly [string, string])[] {
    return platforms.flatMap((platform) => {
      const sha256 = this.find(name, platform);
      return sha256 === undefined ? [] : [[platform, sha256] as const];
    });
  }
}

function idOf(name: ReleaseName, platform: string): string {
  return `${nameOfRelease(name)} ${platform}`;
}
