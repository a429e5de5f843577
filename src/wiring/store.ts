import { type Configuration } from "../config/load.ts";
import {
  listIrreplaceable,
  type KeptReleases,
} from "../mirror/upkeep/irreplaceable.ts";
import { Retention } from "../mirror/upkeep/retention.ts";
import { BlobStore } from "../store/blobs/blob-store.ts";
import { type StoreLayout } from "../store/layout.ts";
import type { Watch } from "./watch.ts";

/** The archives and what bounds them; `kept` is asked when something has to leave. */
export function wireStore(
  { storage }: Configuration,
  layout: StoreLayout,
  kept: () => KeptReleases,
  { logger, metrics, alarms }: Watch,
): { readonly blobs: BlobStore; readonly retention: Retention } {
  const blobs = new BlobStore(layout, {
    onDamaged: (sha256, problem) => {
      alarms.raise("archive-damaged", { sha256, problem });
      void retention.measure().catch(() => undefined);
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
  });
  metrics.watchStore(() => retention.readFigures());
  return { blobs, retention };
}
