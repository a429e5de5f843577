import { Outbox } from "../../store/bucket/archives/outbox.ts";
import { SharedArchives } from "../../store/bucket/archives/shared-archives.ts";
import type { BlobStore } from "../../store/blobs/blob-store.ts";
import { SharedUses } from "../../store/bucket/upkeep/shared-uses.ts";
import type { StoreLayout } from "../../store/layout.ts";
import type { Telemetry } from "../telemetry.ts";
import type { Replica } from "./replica.ts";

/** The archives of the bucket, and what this replica brings there. */
export interface Nearest {
  readonly archives: SharedArchives;
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
  const outbox = new Outbox(layout, blobs, shared, {
    onDropped: (sha256, reason) => {
      const problem = `the archive ${sha256} is not brought into it: ${reason}`;
      alarms.raise("bucket-failing", { problem });
    },
  });
  blobs.listen({ onStored: (_, sha256) => outbox.add(sha256) });
  metrics?.watch({
    bucketDegraded: () => (watch.problem === undefined ? 0 : 1),
    bucketOutbox: () => outbox.size,
  });
  const parts = { blobs: shared, outbox, url, largest };
  const archives = new SharedArchives(parts);
  return { archives, outbox, uses: new SharedUses(bucket, id, blobs) };
}
