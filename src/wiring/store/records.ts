import { LRUCache } from "lru-cache";
import type { RecordKey, StoreLayout } from "../../store/layout.ts";
import { DiskRecords } from "../../store/records/disk-records.ts";
import type { RecordStore } from "../../store/records/record-store.ts";
import { BucketRecords } from "../../store/bucket/bucket-records.ts";
import { RecordMemory } from "../../store/bucket/record-memory.ts";
import { ReplicaRecords } from "../../store/bucket/replica-records.ts";
import type { Failure } from "../../errors/index.ts";
import type { Replica } from "./replica.ts";
import type { Telemetry } from "../telemetry.ts";

/** Milliseconds between two reports on the same file. */
const quiet = 60_000;

/**
 * Opens the records of a storage directory, or of the bucket that it is a
 * replica of. A problem is reported once a minute, for any number of requests.
 */
export function wireRecords(
  layout: StoreLayout,
  { logger, alarms, metrics }: Telemetry,
  replica: Replica | undefined,
): RecordStore {
  const reported = new LRUCache<string, true>({ max: 1_000, ttl: quiet });
  const reportOnce = (about: string, say: () => void) => {
    if (reported.has(about)) return;
    reported.set(about, true);
    say();
  };
  const onUnreadable = ({
    file,
    problem,
    remedy,
  }: Failure<"record-unreadable">) =>
    reportOnce(file, () =>
      alarms.raise("record-unreadable", { file, problem, remedy }),
    );
  const local = new DiskRecords(layout, {
    onUnreadable,
    onDamaged: (file, problem, healed) => {
      if (healed) metrics?.count("healedRecords", {});
      const text = healed
        ? "a copy of a record was no good; it was made again from the other copy"
        : "a copy of a record is no good and cannot be made again now; the other copy is used";
      reportOnce(`${file} ${healed}`, () =>
        logger.warn({ file, problem }, text),
      );
    },
    onPassedOver: (file, problem) =>
      reportOnce(file, () =>
        logger.warn({ file, problem }, "a damaged record is passed over"),
      ),
  });
  if (replica === undefined) return local;
  const { bucket, identity, watch, uncopied: compared } = replica;
  const seen = new RecordMemory(layout);
  const { etagForm } = identity;
  const shared = new BucketRecords(bucket, etagForm, onUnreadable, seen);
  const onDiffering = (key: RecordKey, computed: unknown, first: unknown) =>
    alarms.raise("package-hash-conflict", {
      sha256: key.at(-1),
      ...{ computed, first },
    });
  const own = { seen, local, watch };
  return new ReplicaRecords({ ...own, shared, compared, onDiffering });
}
