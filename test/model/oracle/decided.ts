import { nameOfRelease, type ReleaseName } from "../world/documents.ts";
import type { KeyName } from "../world/toy-keys.ts";

/** What operators say of a key. */
export type Decision = "approved" | "revoked" | "undecided";

interface DecidedKey {
  readonly key: KeyName;
  /** Undefined: the whole namespace. */
  readonly type: string | undefined;
  /** Undefined: every version. */
  readonly version: string | undefined;
  /** More than one after a crash. */
  readonly possible: ReadonlySet<Decision>;
}

/** Decisions of operators as the commands confirmed them. */
export class Decided {
  readonly #keys = new Map<string, DecidedKey>();
  /** Whether contents may be approved, by release and SHA-256 of SHA256SUMS. */
  readonly #contents = new Map<string, ReadonlySet<boolean>>();

  /** `isCertain` is false where the command died before it could confirm. */
  decideKey(
    about: Omit<DecidedKey, "possible">,
    decision: Decision,
    isCertain: boolean,
  ): void {
    const id = `${about.key} ${about.type} ${about.version}`;
    const before = this.#keys.get(id)?.possible ?? ["undecided" as const];
    const possible = new Set([...(isCertain ? [] : before), decision]);
    this.#keys.set(id, { ...about, possible });
  }

  decideContent(
    name: ReleaseName,
    sha256sums: string,
    isApproved: boolean,
    isCertain: boolean,
  ): void {
    const id = `${nameOfRelease(name)} ${sha256sums}`;
    const before = this.#contents.get(id) ?? [false];
    // What was decided last is listed last.
    this.#contents.delete(id);
    const possible = new Set([...(isCertain ? [] : before), isApproved]);
    this.#contents.set(id, possible);
  }

  isPossible(state: Decision, key: KeyName, name: ReleaseName): boolean {
    return this.#covering(key, name).some((one) => one.has(state));
  }

  /** True where the key is in this state for the release in any case. */
  isCertain(state: Decision, key: KeyName, name: ReleaseName): boolean {
    return this.#covering(key, name).some(
      (one) => one.has(state) && one.size === 1,
    );
  }

  /** Lists the digests of contents that may be approved for a release. */
  listApproved(name: ReleaseName): readonly string[] {
    const release = `${nameOfRelease(name)} `;
    return [...this.#contents]
      .filter(([id, one]) => id.startsWith(release) && one.has(true))
      .map(([id]) => id.slice(release.length));
  }

  /** True when any key of the namespace may have been approved. */
  get hasApproved(): boolean {
    return this.#keys.values().some(({ possible }) => possible.has("approved"));
  }

  #covering(key: KeyName, name: ReleaseName) {
    return [...this.#keys.values()]
      .filter(
        (one) =>
          one.key === key &&
          (one.type === undefined || one.type === name.type) &&
          (one.version === undefined || one.version === name.version),
      )
      .map(({ possible }) => possible);
  }
}
