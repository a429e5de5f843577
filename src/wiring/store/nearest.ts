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
  const leases = new Leases(bucket);
  const release = (sha256: Sha256) => void leases.release(leaseName(sha256));
  const outbox = new Outbox(layout, blobs, shared, {
    onTried: release,
    onDropped: (sha256, reason) =>
      alarms.raise("bucket-failing", {
        problem: `the archive ${sha256} is not brought into it: ${reason}`,
      }),
  });
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
  const lead = async (sha256: Sha256, signal: AbortSignal) => {
    const found = await open(sha256);
    if (found !== undefined || outbox.isDistrusted(sha256)) return found;
    const isThere = async () => (await shared.size(sha256)) !== undefined;
    const name = leaseName(sha256);
    const isContended = await leases.take(name, isThere, signal);
    return isContended ? open(sha256) : undefined;
  };
  const distrust = (sha256: Sha256) => outbox.distrust(sha256);
  // What is to be brought is settled when it is there.
  const settle = (sha256: Sha256) => {
    if (!outbox.has(sha256)) release(sha256);
  };
  const uses = new SharedUses(bucket, id, blobs.usage);
  return { outbox, uses, open, lead, settle, distrust };
}

function leaseName(sha256: Sha256): string {
  return `blobs/${sha256}`;
}
