import { type Configuration } from "../config/load.ts";
import {
  listIrreplaceable,
  type KeptReleases,
} from "../mirror/upkeep/irreplaceable.ts";
import { dropUnnamedRecords } from "../mirror/upkeep/unnamed-records.ts";
import { Retention } from "../mirror/upkeep/retention.ts";
import { BlobStore } from "../store/blobs/blob-store.ts";
import { type StoreLayout } from "../store/layout.ts";
import type { RecordStore } from "../store/records/record-store.ts";
import { wireRecords } from "./records.ts";
import type { Watch } from "./watch.ts";

interface WiredStore {
  readonly records: RecordStore;
  readonly blobs: BlobStore;
  readonly retention: Retention;
  /** Counts what this process changes of records. */
  readonly countChanges: () => number;
}

/** Records, archives and what bounds them; `kept` is asked when something has to leave. */
export function wireStore(
  { storage }: Configuration,
  layout: StoreLayout,
  kept: () => KeptReleases,
  watch: Watch,
): WiredStore {
  const { logger, metrics, alarms } = watch;
  let changes = 0;
  const records = wireRecords(layout, watch, () => changes++);
  const blobs = new BlobStore(layout, {
    onDamaged: (sha256, problem) => {
      alarms.raise("archive-damaged", { sha256, problem });
      void retention.measureArchives().catch(() => undefined);
    },
    onStored: (size) => retention.noteStored(size),
  });
  const retention: Retention = new Retention({
    blobs,
    limits: storage,
    listIrreplaceable: () => listIrreplaceable(kept()),
    onEvicted: (blob) => {
      metrics.countArchive("evicted");
      logger.info({ ...blob }, "an archive was evicted");
    },
    measureRecords: () => records.measure(),
    dropRecords: async () => {
      const removed = await dropUnnamedRecords({ blobs, records, ...kept() });
      if (removed > 0)
        logger.info({ removed }, "records that nothing names were removed");
    },
  });
  metrics.watchStore(() => retention.readFigures());
  return { records, blobs, retention, countChanges: () => changes };
}
