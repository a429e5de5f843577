import {
  digestOfArchive,
  platforms,
  sign,
  writeChecksums,
  type Digests,
  type ReleaseName,
  type SignedText,
} from "./documents.ts";
import type { KeyName } from "./toy-keys.ts";

const [linux, windows, darwin] = platforms;

/** What a publisher does with a release. */
export type Making = "publish" | "recreate" | "widen" | "sign-again";

export function nameOfRelease({ type, version }: ReleaseName): string {
  return `${type}@${version}`;
}

/** The honest side: what a publisher made, with its own keys, in the order in which it was made. */
export class Publisher {
  readonly #releases = new Map<string, readonly SignedText[]>();
  /** Key that signs now; undefined while the publisher does not sign. */
  signer: KeyName | undefined;
  /** Keys that the publisher has the registry publish. */
  keys: readonly KeyName[];
  /** Differs after each change. */
  revision = 0;

  constructor(signer: KeyName | undefined) {
    this.signer = signer;
    this.keys = signer === undefined ? [] : [signer];
  }

  /** Lists everything that was made of a release, the current one last. */
  listMade(name: ReleaseName): readonly SignedText[] {
    return this.#releases.get(nameOfRelease(name)) ?? [];
  }

  /** Finds what the publisher wants the registry to offer. */
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
  make(kind: Making, name: ReleaseName, now: number, extra = ""): void {
    const current = this.findCurrent(name);
    if ((current === undefined) !== (kind === "publish")) return;
    this.revision++;
    const made = this.listMade(name);
    const label = `K ${nameOfRelease(name)}`;
    const built = [linux, windows].map(
      (platform) =>
        [
          platform,
          digestOfArchive(`${label} ${platform} ${made.length}`),
        ] as const,
    );
    const digests: Digests =
      kind === "publish" || kind === "recreate"
        ? Object.fromEntries(built)
        : {
            ...current?.digests,
            ...(kind === "widen" && {
              [darwin]: digestOfArchive(`${label} ${darwin}`),
            }),
          };
    const again = kind === "sign-again" ? extra : "";
    const checksums = writeChecksums(name, digests, again);
    const signed = sign(checksums, this.signer, now);
    this.#releases.set(nameOfRelease(name), [...made, signed]);
  }

  /** Signs with another key from now on, and publishes it beside the others. */
  rotate(key: KeyName): void {
    this.revision++;
    this.signer = key;
    this.keys = [...new Set([...this.keys, key])];
  }

  /** Publishes only the key that signs now. */
  retireOldKeys(): void {
    this.revision++;
    if (this.signer !== undefined) this.keys = [this.signer];
  }
}
