import {
  digestOfArchive,
  platforms,
  sign,
  writeChecksums,
  type ChecksumsText,
  type Digests,
  type ReleaseName,
  type SignedText,
} from "./documents.ts";
import type { KeyName } from "./toy-keys.ts";

const [linux, windows, darwin] = platforms;

export function nameOfRelease({ type, version }: ReleaseName): string {
  return `${type}@${version}`;
}

/** The honest side: what a publisher made, with its own keys, in the order in which it was made. */
export class Publisher {
  readonly #releases = new Map<string, SignedText[]>();
  /** Key that signs now; undefined while the publisher does not sign. */
  signer: KeyName | undefined;
  /** Keys that the publisher has the registry publish. */
  keys: readonly KeyName[];
  #revision = 0;

  constructor(signer: KeyName | undefined) {
    this.signer = signer;
    this.keys = signer === undefined ? [] : [signer];
  }

  /** Differs after each change. */
  get revision(): number {
    return this.#revision;
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

  /** Publishes a release that does not exist yet. */
  publish(name: ReleaseName, now: number): void {
    if (this.findCurrent(name) === undefined)
      this.#add(writeChecksums(name, this.#build(name)), now);
  }

  /** Publishes other archives under the name of a release. */
  recreate(name: ReleaseName, now: number): void {
    if (this.findCurrent(name) !== undefined)
      this.#add(writeChecksums(name, this.#build(name)), now);
  }

  /** Adds an archive to a release. */
  widen(name: ReleaseName, now: number): void {
    const current = this.findCurrent(name);
    if (current === undefined) return;
    const added = digestOfArchive(`K ${nameOfRelease(name)} ${darwin}`);
    const digests = { ...current.digests, [darwin]: added };
    this.#add(writeChecksums(name, digests), now);
  }

  /** Signs the archives of a release again, with the key of today; `extra` makes it another text. */
  signAgain(name: ReleaseName, now: number, extra: string): void {
    const current = this.findCurrent(name);
    if (current !== undefined)
      this.#add(writeChecksums(name, current.digests, extra), now);
  }

  /** Signs with another key from now on, and publishes it beside the others. */
  rotate(key: KeyName): void {
    this.#revision++;
    this.signer = key;
    this.keys = [...new Set([...this.keys, key])];
  }

  /** Publishes only the key that signs now. */
  retireOldKeys(): void {
    this.#revision++;
    if (this.signer !== undefined) this.keys = [this.signer];
  }

  #build(name: ReleaseName): Digests {
    const count = this.listMade(name).length;
    const made = [linux, windows].map((platform) => [
      platform,
      digestOfArchive(`K ${nameOfRelease(name)} ${platform} ${count}`),
    ]);
    return Object.fromEntries(made) as Digests;
  }

  #add(checksums: ChecksumsText, now: number): void {
    this.#revision++;
    const made = this.#releases.get(nameOfRelease(checksums)) ?? [];
    this.#releases.set(nameOfRelease(checksums), [
      ...made,
      sign(checksums, this.signer, now),
    ]);
  }
}
