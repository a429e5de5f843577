import { inTime } from "../../concurrency/in-time.ts";
import type { ProvenderError } from "../../errors/index.ts";
import type { ProviderAddress } from "../../address/provider-address.ts";
import type { Release, ReleaseAddress } from "../releases/release.ts";
import type { VersionList } from "../releases/version-list.ts";

/** How releases are looked up for a listing. */
export interface ReleaseLookup {
  /** Without asking the origin. */
  peek(address: ReleaseAddress): Promise<Release | undefined>;
  find(address: ReleaseAddress): Promise<Release>;
  /** True when an archive of the release is stored. */
  isStored(address: ReleaseAddress): Promise<boolean>;
  /** Makes sure that first contact taught the provider's key, or says why it could not. */
  learnKey(
    provider: ProviderAddress,
    list: VersionList,
  ): Promise<ProvenderError | undefined>;
}

/**
 * Why a release is looked at. `new`: it appeared after first contact, so its key must be seen before it is listed. `unsure`: it was listed
 * then, but perhaps not under a key that is acceptable. `held`: it was refused before. `age`: the walk bounds itself.
 */
export type Reason = "new" | "unsure" | "held" | "age";

/** What one listing looks up, within its bounds. */
export class LookUps {
  readonly #lookup: ReleaseLookup;
  readonly #deadline: number;
  readonly #left = { new: 32, unsure: 16, held: 0, age: Infinity };
  /** Why something could not be told; undefined while everything was. */
  failure: ProvenderError | undefined;
  /** Why first contact could not teach the provider's key. */
  untaught: ProvenderError | undefined;

  /** No look-up is waited for longer than until `deadline`, of `performance.now()`. */
  constructor(lookup: ReleaseLookup, deadline: number) {
    this.#lookup = lookup;
    this.#deadline = deadline;
  }

  /** What is known costs nothing; undefined when nothing is known and nothing may be asked any more. */
  async look(
    address: ReleaseAddress,
    reason: Reason,
  ): Promise<Release | undefined> {
    const known = await this.#lookup.peek(address);
    if (known !== undefined) return known;
    return this.#left[reason]-- > 0 ? this.#findInTime(address) : undefined;
  }

  /** Undefined when the time is over first; the look-up goes on for the next listing. */
  async #findInTime(address: ReleaseAddress): Promise<Release | undefined> {
    const milliseconds = this.#deadline - performance.now();
    if (milliseconds <= 0) return undefined;
    return inTime(this.#lookup.find(address), milliseconds, () => undefined);
  }
}
