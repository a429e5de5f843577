import { inTime } from "../../concurrency/in-time.ts";
import type { ProvenderError } from "../../errors/index.ts";
import type { Release } from "../releases/release.ts";
import type { ReleaseRequest } from "../trust/request.ts";
import type { ProviderCatalog } from "./provider-catalog.ts";

/**
 * Why a release is looked at. `new`: it appeared after first contact, so its key must be seen before it is listed. `unsure`: it was listed
 * then, but perhaps not under a key that is acceptable. `held`: it was refused before. `age`: the walk bounds itself.
 */
export type Reason = "new" | "unsure" | "held" | "age";

/** What one listing looks up, within its bounds. */
export class LookUps {
  readonly #catalog: ProviderCatalog;
  readonly #deadline: number;
  readonly #left = { new: 32, unsure: 16, held: 0, age: Infinity };
  /** Why something could not be told; undefined while everything was. */
  failure: ProvenderError | undefined;
  /** Why first contact could not teach the provider's key. */
  untaught: ProvenderError | undefined;

  /** No look-up is waited for longer than until `deadline`, of `performance.now()`. */
  constructor(catalog: ProviderCatalog, deadline: number) {
    this.#catalog = catalog;
    this.#deadline = deadline;
  }

  /** What is known costs nothing; undefined when nothing is known and nothing may be asked any more. */
  async look(
    request: ReleaseRequest,
    reason: Reason,
  ): Promise<Release | undefined> {
    const known = await this.#catalog.peekRelease(request.address);
    if (known !== undefined) return known;
    if (this.#left[reason]-- <= 0) return undefined;
    const found = await this.#findInTime(request);
    // Operators may have decided something while the origin was asked.
    await request.entry.renew();
    return found;
  }

  /** Undefined when the time is over first; the look-up goes on for the next listing. */
  async #findInTime(request: ReleaseRequest): Promise<Release | undefined> {
    const milliseconds = this.#deadline - performance.now();
    if (milliseconds <= 0) return undefined;
    const found = this.#catalog.findRelease(request);
    return (await inTime(found, milliseconds, () => undefined))?.value;
  }
}
