import type { Sha256 } from "../../address/hash.ts";
import { isBucketFailure } from "../../errors/index.ts";
import type { NearestOrigin } from "../../mirror/cache/nearest-origin.ts";
import type { BlobStore } from "../../store/blobs/blob-store.ts";
import { Outbox } from "../../store/bucket/outbox.ts";
import { Leases } from "../../store/bucket/leases.ts";
import { SharedUses } from "../../store/bucket/upkeep/shared-uses.ts";
import type { StoreLayout } from "../../store/layout.ts";
import type { Telemetry } from "../telemetry.ts";
import type { Replica } from "./replica.ts";

/** The archives of the bucket, and what this replica brings there. */
export interface Nearest extends NearestOrigin {
  readonly outbox: Outbox;
  readonly uses: SharedUses;
}

export function wireNearest(
  { bucket, id, blobs: shared, url, watch }: Replica,
  layout: StoreLayout,
  blobs: BlobStore,
  { alarms, metrics }: Telemetry,
  largest: number,
): Nearest {
  const fetches = new FetchLeases(new Leases(bucket));
  const onDropped = (sha256: Sha256, reason: string) => {
    const problem = `the archive ${sha256} is not brought into it: ${reason}`;
    alarms.raise("bucket-failing", { problem });
  };
  const onTried = (sha256: Sha256) => fetches.end(sha256);
  const outbox = new Outbox(layout, blobs, shared, { onTried, onDropped });
  blobs.listen({ onStored: (_, sha256) => outbox.add(sha256) });
  metrics.watch({
    bucketDegraded: () => (watch.problem === undefined ? 0 : 1),
    bucketOutbox: () => outbox.size,
  });
  const open = async (sha256: Sha256) => {
    if (outbox.isDistrusted(sha256)) return undefined;
    try {
      const found = await shared.open(sha256, largest);
      return found && { ...found, url, contentType: "application/zip" };
    } catch (error) {
      if (!isBucketFailure(error)) throw error;
      return undefined;
    }
  };
  const has = async (sha256: Sha256) =>
    (await shared.size(sha256)) !== undefined;
  const uses = new SharedUses(bucket, id, blobs);
  return {
    ...{ outbox, uses, open, has },
    awaitOther: async (sha256, signal) => {
      if (outbox.isDistrusted(sha256)) return false;
      try {
        if (await has(sha256)) return true;
      } catch (error) {
        if (!isBucketFailure(error)) throw error;
        return false;
      }
      return fetches.take(sha256, () => has(sha256), signal);
    },
    ...leadBy(fetches, outbox),
    distrust: (sha256) => outbox.distrust(sha256),
  };
}

/** The lease on what goes into the bucket is released once it is there. */
function leadBy(
  fetches: FetchLeases,
  outbox: Outbox,
): Pick<Nearest, "settle" | "leadNamed" | "settleNamed"> {
  return {
    settle: (sha256) => {
      if (!outbox.has(sha256)) fetches.end(sha256);
    },
    leadNamed: (name, isDone, signal) => fetches.wait(name, isDone, signal),
    settleNamed: (name, fetched) => {
      const isComing = fetched !== undefined && outbox.has(fetched);
      fetches.endNamed(name, isComing ? fetched : undefined);
    },
  };
}

/** The leases on fetches of archives, by digest or by a name of what has none yet. */
class FetchLeases {
  readonly #leases: Leases;
  readonly #named = new Map<Sha256, string>();

  constructor(leases: Leases) {
    this.#leases = leases;
  }

  take(
    sha256: Sha256,
    isDone: () => Promise<boolean>,
    signal: AbortSignal,
  ): Promise<boolean> {
    return this.#leases.take(leaseName(sha256), isDone, signal);
  }

  async wait(
    name: string,
    isDone: () => Promise<boolean>,
    signal: AbortSignal,
  ): Promise<void> {
    await this.#leases.take(name, isDone, signal);
  }

  end(sha256: Sha256): void {
    void this.#leases.release(leaseName(sha256));
    void this.#leases.release(this.#named.get(sha256) ?? "");
    this.#named.delete(sha256);
  }

  /** At once, or when the lease on `sha256` ends where that is given. */
  endNamed(name: string, sha256: Sha256 | undefined): void {
    if (sha256 === undefined) void this.#leases.release(name);
    else this.#named.set(sha256, name);
  }
}

function leaseName(sha256: Sha256): string {
  return `blobs/${sha256}`;
}
