import type { ReleaseName } from "../world/documents.ts";
import type { KeyName } from "../world/toy-keys.ts";

/** Scope of a key decision, as operators name it. */
export interface Scope {
  /** Undefined: the whole namespace. */
  readonly type: string | undefined;
  /** Undefined: every version. */
  readonly version: string | undefined;
}

export type KeyState = "approved" | "revoked" | "undecided";

interface DecidedKey extends Scope {
  readonly key: KeyName;
  /** States that it may have: more than one after a crash. */
  readonly possible: ReadonlySet<KeyState>;
}

interface DecidedContent extends ReleaseName {
  readonly sha256sums: string;
  readonly possible: ReadonlySet<boolean>;
}

/** Decisions of operators as the commands confirmed them. */
export class Decided {
  #keys: readonly DecidedKey[] = [];
  #contents: readonly DecidedContent[] = [];
  #revision = 0;

  /** Differs after each decision. */
  get revision(): number {
    return this.#revision;
  }

  /** `isCertain` is false where the command died before it could confirm. */
  decideKey(
    key: KeyName,
    { type, version }: Scope,
    state: KeyState,
    isCertain: boolean,
  ): void {
    this.#revision++;
    const isSame = (one: DecidedKey) =>
      one.key === key && one.type === type && one.version === version;
    const before = this.#keys.find(isSame)?.possible ?? new Set(["undecided"]);
    const possible = new Set(isCertain ? [state] : [...before, state]);
    const decided = { key, type, version, possible } as DecidedKey;
    this.#keys = [...this.#keys.filter((one) => !isSame(one)), decided];
  }

  decideContent(
    { type, version }: ReleaseName,
    sha256sums: string,
    isApproved: boolean,
    isCertain: boolean,
  ): void {
    this.#revision++;
    const isSame = (one: DecidedContent) =>
      one.type === type &&
      one.version === version &&
      one.sha256sums === sha256sums;
    const before = this.#contents.find(isSame)?.possible ?? new Set([false]);
    const possible = new Set(
      isCertain ? [isApproved] : [...before, isApproved],
    );
    const decided = { type, version, sha256sums, possible };
    this.#contents = [...this.#contents.filter((one) => !isSame(one)), decided];
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
  listApproved({ type, version }: ReleaseName): readonly string[] {
    return this.#contents
      .filter((one) => one.type === type && one.version === version)
      .filter(({ possible }) => possible.has(true))
      .map(({ sha256sums }) => sha256sums);
  }

  /** True when any key of the namespace may have been approved. */
  get hasApproved(): boolean {
    return this.#keys.some(({ possible }) => possible.has("approved"));
  }

  #covering(key: KeyName, name: ReleaseName): readonly DecidedKey[] {
    return this.#keys.filter(
      (one) =>
        one.key === key &&
        (one.type === undefined || one.type === name.type) &&
        (one.version === undefined || one.version === name.version),
    );
  }
}
