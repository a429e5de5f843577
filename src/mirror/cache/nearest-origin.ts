import type { Sha256 } from "../../address/hash.ts";
import type { OriginArchive } from "../../origin/http/http-client.ts";

/** Where archives are looked for before their origin is asked. */
export interface NearestOrigin {
  /** Undefined for what it has not got, or cannot give now. */
  open(sha256: Sha256): Promise<OriginArchive | undefined>;
  /**
   * Waits while somebody else brings it there. False for the one who fetches it;
   * everybody calls `settle` whatever comes of it.
   */
  awaitOther(sha256: Sha256, signal: AbortSignal): Promise<boolean>;
  settle(sha256: Sha256): void;
  /**
   * For what has no digest yet: resolves when it is ours to fetch, or nobody's to
   * wait for, or `isDone`. Whoever asked calls `settleNamed`, with what was fetched.
   */
  leadNamed(
    name: string,
    isDone: () => Promise<boolean>,
    signal: AbortSignal,
  ): Promise<void>;
  settleNamed(name: string, fetched: Sha256 | undefined): void;
  has(sha256: Sha256): Promise<boolean>;
  /** What it gave was another archive. */
  distrust(sha256: Sha256): void;
}
