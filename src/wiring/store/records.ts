import { LRUCache } from "lru-cache";
import type { StoreLayout } from "../../store/layout.ts";
import { DiskRecords } from "../../store/records/disk-records.ts";
import type { RecordStore } from "../../store/records/record-store.ts";
import type { Telemetry } from "../telemetry.ts";

/** Milliseconds for which nothing more is said of a file. */
const quiet = 60_000;

/** The records of a storage directory; what is wrong with one is said once a minute, however many ask for it. */
export function wireRecords(
  layout: StoreLayout,
  { logger, alarms, metrics }: Telemetry,
  onChanged?: () => void,
): RecordStore {
  const told = new LRUCache<string, true>({ max: 1_000, ttl: quiet });
  const tell = (about: string, say: () => void) => {
    if (told.has(about)) return;
    told.set(about, true);
    say();
  };
  return new DiskRecords(layout, {
    ...(onChanged && { onChanged }),
    onUnreadable: ({ file, problem, cure }) =>
      tell(file, () =>
        alarms.raise("record-unreadable", { file, problem, cure }),
      ),
    onDamaged: (file, problem, healed) => {
      if (healed) metrics.countHealedRecord();
      const text = healed
        ? "a copy of a record was no good; it was made again from the other copy"
        : "a copy of a record is no good and cannot be made again now; the other copy is used";
      tell(`${file} ${healed}`, () => logger.warn({ file, problem }, text));
    },
    onPassedOver: (file, problem) =>
      tell(file, () =>
        logger.warn({ file, problem }, "a damaged record is passed over"),
      ),
  });
}
