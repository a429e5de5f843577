import { nameOfRelease, type ReleaseName } from "../world/documents.ts";
import type { KeyName } from "../world/toy-keys.ts";

/** Scope of a key decision, as operators name it; undefined: the whole namespace, every version. */
export interface Scope {
  readonly type: string | undefined;
  readonly version: string | undefined;
}

type KeyState = "approved" | "revoked" | "undecided";

interface DecidedKey extends Scope {
  readonly key: KeyName;
  /** States that it may have: more than one after a crash. */
  readonly possible: ReadonlySet<KeyState>;
}

/** Decisions of operators as the commands confirmed them. */
export class Decided {
  readonly #keys = new Map<string, DecidedKey>();
  /** Whether contents may be approved, by release and SHA-256 of SHA256SUMS. */
  readonly #contents = new Map<string, Map<string, ReadonlySet<boolean>>>();
  /** Differs after each decision. */
  revision = 0;

  /** `isCertain` is false where the command died before it could confirm. */
  decideKey(
    key: KeyName,
    { type, version }: Scope,
    state: KeyState,
    isCertain: boolean,
  ): void {
    this.revision++;
    const id = `${key} ${type} ${version}`;
    const before = this.#keys.get(id)?.possible ?? ["undecided" as const];
    const possible = new Set(isCertain ? [state] : [...before, state]);
    this.#keys.set(id, { key, type, version, possible });
  }

  decideContent(
    name: ReleaseName,
    sha256sums: string,
    isApproved: boolean,
    isCertain: boolean,
  ): void {
    this.revision++;
    const id = nameOfRelease(name);
    const contents =
      this.#contents.get(id) ?? new Map<string, ReadonlySet<boolean>>();
    const before = contents.get(sha256sums) ?? [false];
    const possible = isCertain ? [isApproved] : [...before, isApproved];
    contents.delete(sha256sums);
    contents.set(sha256sums, new Set(possible));
    this.#contents.set(id, contents);
  }

  /** True where the key may be in this state for the release. */
  isPossible(state: KeyState, key: KeyName, name: ReleaseName): boolean {
    return this.#covering(key, name).some(({ possible }) =>
      possible.has(state),
    );
  }

  /** True where the key is in this state for the release in any case. */
  isCertain(state: KeyState, key: KeyName, name: ReleaseName): boolean {
    return this.#covering(key, name).some(
      ({ possible }) => possible.has(state) && possible.size === 1,
    );
  }

  /** Lists the digests of contents that may be approved for a release. */
  listApproved(name: ReleaseName): readonly string[] {
    return [...(this.#contents.get(nameOfRelease(name)) ?? [])]
      .filter(([, possible]) => possible.has(true))
      .map(([sha256sums]) => sha256sums);
  }

  /** True when any key of the namespace may have been approved. */
  get hasApproved(): boolean {
    return this.#keys.values().some(({ possible }) => possible.has("approved"));
  }

  #covering(key: KeyName, name: ReleaseName): readonly DecidedKey[] {
    return [...this.#keys.values()].filter(
      (one) =>
        one.key === key &&
        (one.type === undefined || one.type === name.type) &&
        (one.version === undefined || one.version === name.version),
    );
  }
}
