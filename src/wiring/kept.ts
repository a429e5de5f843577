import { LRUCache } from "lru-cache";
import type { ProviderAddress } from "../address/provider-address.ts";
import type { Configuration } from "../config/load.ts";
import { failure } from "../errors/index.ts";
import { type Clock, systemClock } from "../mirror/cache/clock.ts";
import type { Reserve } from "../mirror/archives/room.ts";
import { downloadLimits } from "../mirror/archives/places.ts";
import {
  MetadataCache,
  type MetadataRecords,
  type Revised,
} from "../mirror/cache/metadata-cache.ts";
import { ProviderChanges } from "../mirror/cache/provider-changes.ts";
import { ReleaseRecords } from "../mirror/releases/records.ts";
import type { SignatureJudge } from "../mirror/releases/evidence.ts";
import { TrustStore } from "../mirror/trust/trust-store.ts";
import { listIrreplaceable } from "../mirror/upkeep/pruning.ts";
import { Retention } from "../mirror/upkeep/retention.ts";
import type { VersionList } from "../mirror/versions/version-list.ts";
import {
  providerVersionNaming,
  VersionRecords,
} from "../mirror/versions/version-records.ts";
import { BlobStore } from "../store/blobs/blob-store.ts";
import type { Bucket } from "../store/bucket/bucket.ts";
import { SharedArchives } from "../store/bucket/shared-archives.ts";
import type { StoreLayout } from "../store/layout.ts";
import { DatabaseRecords } from "../store/database/database-records.ts";
import type { RecordTable } from "../store/records/record-tables.ts";
import type { RecordStore } from "../store/records/record-store.ts";
import { signaturePolicyOf } from "./origins.ts";
import type { Telemetry } from "./telemetry.ts";
import { ArchiveThreads } from "../verification/archives/threads.ts";
import {
  archiveDeadline,
  packageLimits,
} from "../verification/archives/limits.ts";
import {
  decisionVersion,
  SignatureThreads,
} from "../verification/signatures.ts";

const staleSentence = "serving stale metadata while the origin fails";

/**
 * Stored content with its caches and retention, without clients and origins.
 */
export interface Kept {
  readonly clock: Clock;
  readonly records: RecordStore;
  readonly judge: SignatureJudge;
  readonly trust: TrustStore;
  readonly changes: ProviderChanges;
  readonly releases: ReleaseRecords;
  readonly versions: MetadataCache<ProviderAddress, VersionList>;
  readonly blobs: BlobStore;
  readonly retention: Retention;
  /** Room for one archive. */
  readonly reserve: Reserve;
  /** The bucket, before any origin. */
  readonly nearest: SharedArchives | undefined;
  readonly bucket: Bucket | undefined;
  /** Listeners hear of records that other processes may have changed. */
  readonly listen: DatabaseRecords["listen"];
  close(): Promise<void>;
}

/** Parts that tests choose. */
export interface KeptParts {
  readonly clock?: Clock;
  readonly records?: RecordStore;
  readonly bucket?: Bucket | undefined;
}

export function wireKept(
  configuration: Configuration,
  layout: StoreLayout,
  telemetry: Telemetry,
  parts: KeptParts = {},
): Kept {
  const { bucket, clock = systemClock } = parts;
  const local = wireRecords(telemetry);
  const { records = local } = parts;
  const signatures = wireSignatures();
  const judge = wireJudge(signatures);
  const changes = new ProviderChanges(records);
  const trust = new TrustStore(records, changes);
  const listen: Kept["listen"] = (listener) => local.listen(listener);
  listen((changed) => {
    changes.noteRecords(changed);
    if (isAbout(changed, "namespaces", "first_contacts")) trust.forget();
  });
  const make = wireCaches(configuration, telemetry, { clock, listen, changes });
  const kept = {
    records,
    versions: make.cache(new VersionRecords(records, providerVersionNaming)),
    releases: new ReleaseRecords(records, {
      judge,
      clock,
      policyOf: (hostname) =>
        signaturePolicyOf(configuration.origins.get(hostname)),
    }),
  };
  const store = wireStore(configuration, layout, kept, telemetry);
  const { blobs } = store;
  listen(() => store.retention.forget());
  const { archive } = configuration.limits;
  const nearest =
    bucket && wireNearest(bucket, layout, blobs, telemetry, archive);
  const close = async () => {
    await nearest?.close();
    await Promise.all([signatures.close(), blobs.usage.flush()]);
  };
  return {
    ...kept,
    ...store,
    ...{ clock, judge, trust, changes, nearest, bucket, listen },
    close,
  };
}

/** The archives and what bounds them. */
function wireStore(
  { storage, offline }: Configuration,
  layout: StoreLayout,
  kept: Pick<Kept, "records" | "versions" | "releases">,
  { database, logger, metrics, alarms }: Telemetry,
): Pick<Kept, "blobs" | "retention" | "reserve"> {
  const { records } = kept;
  const blobs = new BlobStore(layout, database, {
    onDamaged: (sha256, problem) =>
      alarms.raise("archive-damaged", { sha256, problem }),
  });
  const retention = new Retention({
    blobs,
    limits: storage,
    offline,
    listIrreplaceable: () => listIrreplaceable(kept),
    onEvicted: (blob) => {
      metrics?.archives.inc({ outcome: "evicted" });
      logger.info({ ...blob }, "an archive was evicted");
    },
    measureRecords: () => records.measure(),
  });
  metrics?.watchStore(() => retention.readFigures());
  const reserve: Reserve = (...asked) => retention.reserve(...asked);
  return { blobs, retention, reserve };
}

/** Makes the cache for one kind of metadata. */
export function wireCaches(
  { limits, freshness, offline }: Configuration,
  { logger, metrics }: Telemetry,
  { clock, listen, changes }: Pick<Kept, "clock" | "listen" | "changes">,
) {
  const onUnwritten = (record: string, err: unknown) =>
    // A good answer is given all the same.
    logger.error({ record, err }, "a record was not written");
  const onStale = (record: string, age: number, error: unknown) => {
    const facts = { record, age: Math.round(age / 1000) };
    const { message } = error as Error;
    logger.warn({ ...facts, error: message }, staleSentence);
  };
  const absence = Math.min(limits.absence, freshness.versions);
  const within = { ...downloadLimits, ...limits, ...freshness };
  const cache = <K extends object, V extends Revised>(
    records: MetadataRecords<K, V>,
  ) => {
    const made = new MetadataCache(
      records,
      { ...within, notFound: absence },
      clock,
      offline,
      onUnwritten,
      onStale,
      (record) => changes.noteRecord(record),
    );
    metrics?.watchWaiters(() => made.waiting);
    listen((changed) => made.forget(changed));
    return made;
  };
  return { cache, onUnwritten, absence };
}

function wireNearest(
  bucket: Bucket,
  layout: StoreLayout,
  blobs: BlobStore,
  { alarms, metrics }: Telemetry,
  largest: number,
): SharedArchives {
  const shared = new SharedArchives(
    ...([layout, blobs, bucket, largest] as const),
    (sha256, reason) => {
      const problem = `the archive ${sha256} is not brought into it: ${reason}`;
      alarms.raise("bucket-failing", { problem });
    },
  );
  metrics?.watch(metrics.bucketDegraded, () =>
    Number(bucket.problem !== undefined),
  );
  metrics?.watch(metrics.bucketOutbox, () => shared.size);
  return shared;
}

/** Milliseconds between two reports on the same file. */
const quiet = 60_000;

/** Reports a problem of a record once a minute, for any number of requests. */
function wireRecords({ database, logger, alarms }: Telemetry): DatabaseRecords {
  const reportOnce = makeQuiet();
  return new DatabaseRecords(database, {
    onUnreadable: ({ file, problem, remedy }) =>
      reportOnce(file, () =>
        alarms.raise("record-unreadable", { file, problem, remedy }),
      ),
    onPassedOver: (record, problem) =>
      reportOnce(record, () =>
        logger.warn({ record, problem }, "a damaged record is passed over"),
      ),
  });
}

/** Says what is about the same only once a minute. */
function makeQuiet() {
  const reported = new LRUCache<string, true>({ max: 1_000, ttl: quiet });
  return (about: string, say: () => void) => {
    if (reported.has(about)) return;
    reported.set(about, true);
    say();
  };
}

/** Milliseconds to decide about one signature. */
const signatureDeadline = 2_000;

export function wireHashing(): ArchiveThreads {
  return new ArchiveThreads({
    threads: 2,
    deadlineMs: archiveDeadline,
    limits: packageLimits,
  });
}

function wireSignatures(): SignatureThreads {
  return new SignatureThreads({ threads: 2, deadlineMs: signatureDeadline });
}

function wireJudge(signatures: SignatureThreads): SignatureJudge {
  return {
    library: decisionVersion,
    decide: (release, question) =>
      signatures.decide(question).catch((error: unknown) => {
        const reason = error instanceof Error ? error.message : "unknown";
        throw failure("signature-undecided", release, reason, { cause: error });
      }),
  };
}

/** True where records of one of these tables may be among those that changed. */
export function isAbout(
  changed: ReadonlySet<string> | undefined,
  ...tables: readonly RecordTable[]
): boolean {
  const isOne = (name: string) =>
    tables.some((table) => name.startsWith(`${table}/`));
  return changed?.values().some(isOne) ?? true;
}
