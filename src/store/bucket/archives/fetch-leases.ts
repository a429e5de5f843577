import type { Sha256 } from "../../../address/hash.ts";
import { leaseName } from "../../layout.ts";
import type { Leases } from "../leases.ts";

/** The leases on fetches of archives, by digest or by a name of what has none yet. */
export class FetchLeases {
  readonly #leases: Leases;
  readonly #named = new Map<Sha256, string>();

  constructor(leases: Leases) {
    this.#leases = leases;
  }

  /** As Leases.take. */
  take(
    sha256: Sha256,
    ...how: [isDone: () => Promise<boolean>, signal: AbortSignal]
  ): Promise<boolean> {
    return this.#leases.take(leaseName("blobs", sha256), ...how);
  }

  async takeNamed(
    name: string,
    ...how: [isDone: () => Promise<boolean>, signal: AbortSignal]
  ): Promise<void> {
    await this.#leases.take(name, ...how);
  }

  end(sha256: Sha256): void {
    const named = this.#named.get(sha256);
    this.#named.delete(sha256);
    void this.#leases.release(leaseName("blobs", sha256));
    if (named !== undefined) void this.#leases.release(named);
  }

  /** Once `sha256` ends, where it is given. */
  endNamed(name: string, sha256: Sha256 | undefined): void {
    if (sha256 === undefined) void this.#leases.release(name);
    else this.#named.set(sha256, name);
  }
}
