import type { Sha256 } from "../../address/hash.ts";
import { isBucketFailure } from "../../errors/index.ts";
import type { NearestOrigin } from "../../mirror/cache/archive-cache.ts";
import type { BlobStore } from "../../store/blobs/blob-store.ts";
import { Outbox } from "../../store/bucket/outbox.ts";
import type { StoreLayout } from "../../store/layout.ts";
import type { Telemetry } from "../telemetry.ts";
import type { Replica } from "./replica.ts";

/** The archives of the bucket, and what this replica brings there. */
export interface Nearest extends NearestOrigin {
  readonly outbox: Outbox;
}

export function wireNearest(
  { blobs: shared, url, watch }: Replica,
  layout: StoreLayout,
  blobs: BlobStore,
  { alarms, metrics }: Telemetry,
): Nearest {
  const outbox = new Outbox(layout, blobs, shared, {
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
      const found = await shared.open(sha256);
      return found && { ...found, url, contentType: "application/zip" };
    } catch (error) {
      if (!isBucketFailure(error)) throw error;
      return undefined;
    }
  };
  return { outbox, open, distrust: (sha256) => outbox.distrust(sha256) };
}
