import { inTime } from "../../concurrency/in-time.ts";
import { isFailure, type ProvenderError } from "../../errors/index.ts";
import type { ReleaseRequest } from "../trust/request.ts";
import type { SettledRelease } from "../trust/settlements.ts";
import type { Standings } from "../standings/standings.ts";

/**
 * Reason for looking at a release. `new`: it appeared after first contact, so
 * its key is checked before it is listed. `unsure`: it was listed then, perhaps
 * under an unacceptable key. `refused` and `phantom`: it was before. `age`: the
 * walk bounds itself.
 */
export type Reason = "new" | "unsure" | "refused" | "phantom" | "age";

/** Look-ups of one listing, within its bounds. */
export class LookUps {
  readonly #standings: Standings;
  readonly #deadline: number;
  readonly #left = {
    ...{ new: 32, unsure: 16, age: Infinity },
    ...{ refused: 0, phantom: 0 },
  };
  /** Limits all look-ups to `deadline`, of `performance.now()`. */
  failure: ProvenderError | undefined;

  /** No look-up is waited for longer than until `deadline`, of `performance.now()`. */
  constructor(standings: Standings, deadline: number) {
    this.#standings = standings;
    this.#deadline = deadline;
  }

  /** A known release costs nothing; undefined when nothing is known and nothing may be asked any longer. Throws its refusal. */
  async look(
    request: ReleaseRequest,
    reason: Reason,
  ): Promise<SettledRelease | undefined> {
    try {
      return await this.#standings.look(request);
    } catch (error) {
      if (!isFailure(error, "not-stored")) throw error;
    }
    if (this.#left[reason]-- <= 0) return undefined;
    return this.#findInTime(request);
  }

  /** Undefined when the time is over first; the look-up goes on for the next listing. */
  async #findInTime(
    request: ReleaseRequest,
  ): Promise<SettledRelease | undefined> {
    const milliseconds = this.#deadline - performance.now();
    if (milliseconds <= 0) return undefined;
    const found = this.#standings.lookUp(request);
    return (await inTime(found, milliseconds, () => undefined))?.value;
  }
}
