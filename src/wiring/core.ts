import { LRUCache } from "lru-cache";
import type { Sha256 } from "../address/hash.ts";
import { formatProviderAddress } from "../address/provider-address.ts";
import type { Configuration, S3Configuration } from "../config/load.ts";
import { failure, isFailure } from "../errors/index.ts";
import { Archives } from "../mirror/archives/archives.ts";
import { downloadLimits } from "../mirror/archives/places.ts";
import type { Reserve } from "../mirror/archives/room.ts";
import { makeWrongArchives } from "../mirror/archives/wrong-archives.ts";
import { systemClock as clock } from "../mirror/cache/clock.ts";
import {
  MetadataCache,
  type MetadataRecords,
  type Revised,
} from "../mirror/cache/metadata-cache.ts";
import { ProviderChanges } from "../mirror/cache/provider-changes.ts";
import { ModuleMirror } from "../mirror/modules/module-mirror.ts";
import { makeModulePins } from "../mirror/modules/pins.ts";
import {
  moduleReleaseRecords,
  moduleVersionNaming,
} from "../mirror/modules/records.ts";
import { ProviderMirror } from "../mirror/providers/provider-mirror.ts";
import type { SignatureJudge } from "../mirror/releases/evidence.ts";
import { PackageHashes } from "../mirror/releases/package-hashes.ts";
import { ReleaseRecords } from "../mirror/releases/records.ts";
import { ProviderCatalog } from "../mirror/standings/provider-catalog.ts";
import { RefusedVersions } from "../mirror/standings/refusals.ts";
import { Standings } from "../mirror/standings/standings.ts";
import type { AdmissionRules } from "../mirror/trust/admission-rules.ts";
import { Admission } from "../mirror/trust/admission.ts";
import { Settlements } from "../mirror/trust/settlements.ts";
import { type Notebook, TrustEvents } from "../mirror/trust/trust-events.ts";
import { TrustStore } from "../mirror/trust/trust-store.ts";
import { listIrreplaceable } from "../mirror/upkeep/pruning.ts";
import { Retention } from "../mirror/upkeep/retention.ts";
import {
  providerVersionNaming,
  versionRecords,
} from "../mirror/versions/version-list.ts";
import { BlobStore } from "../store/blobs/blob-store.ts";
import { Bucket } from "../store/bucket/bucket.ts";
import { SharedArchives } from "../store/bucket/shared-archives.ts";
import type { StoreLayout } from "../store/layout.ts";
import { RecordStore } from "../store/records/record-store.ts";
import type { RecordTable } from "../store/database/schema.ts";
import { parsePolicy } from "../trust/policy.ts";
import {
  moduleLimits,
  packageLimits,
} from "../verification/archives/limits.ts";
import { ArchiveThreads } from "../verification/archives/threads.ts";
import {
  decisionVersion,
  SignatureThreads,
} from "../verification/signatures.ts";
import { wireClients } from "./clients.ts";
import { signaturePolicyOf, wireOrigins } from "./origins.ts";
import type { Telemetry } from "./telemetry.ts";

/** All of a daemon but its protocols: what commands work with, too. */
export type Core = ReturnType<typeof wireCore>;

/** Milliseconds to decide about one signature. */
const signatureDeadline = 2_000;

/** Connects all that decides what clients get, from what is stored up to the two mirrors. */
export function wireCore(
  configuration: Configuration,
  layout: StoreLayout,
  telemetry: Telemetry,
) {
  const { freshness, limits, offline, origins, storage } = configuration;
  const { alarms, audit, database, logger, metrics } = telemetry;

  // What is known, and what of it is remembered.
  const records = wireRecords(telemetry);
  const changes = new ProviderChanges(records);
  const trust = new TrustStore(records, changes);
  const signatures = new SignatureThreads({
    threads: 2,
    deadlineMs: signatureDeadline,
  });
  const judge: SignatureJudge = {
    library: decisionVersion,
    decide: (release, question) =>
      signatures.decide(question).catch((error: unknown) => {
        const reason = error instanceof Error ? error.message : "unknown";
        throw failure("signature-undecided", release, reason, { cause: error });
      }),
  };
  const releases = new ReleaseRecords(records, {
    ...{ judge, clock },
    policyOf: (hostname) => signaturePolicyOf(origins.get(hostname)),
  });

  // What of it is remembered, and asked for again.
  const notFound = Math.min(limits.absence, freshness.versions);
  const onUnwritten = (record: string, err: unknown) =>
    // A good answer is given all the same.
    logger.error({ record, err }, "a record was not written");
  const caches: Pick<MetadataCache<object, Revised>, "forget">[] = [];
  const cache = <K extends object, V extends Revised>(
    of: MetadataRecords<K, V>,
  ) => {
    const made = new MetadataCache(of, {
      limits: { ...downloadLimits, ...limits, ...freshness, notFound },
      ...{ clock, offline, onUnwritten, changes },
      onStale: (record, age, error) =>
        logger.warn(
          {
            ...{ record, age: Math.round(age / 1000) },
            error: (error as Error).message,
          },
          "serving stale metadata while the origin fails",
        ),
    });
    metrics?.watchWaiters(() => made.waiting);
    caches.push(made);
    return made;
  };
  const versions = cache(versionRecords(records, providerVersionNaming));

  // Archives on the disk, and in a bucket that many daemons may share.
  const blobs = new BlobStore(layout, database);
  blobs.listen({
    onDamaged: (sha256, problem) =>
      alarms.raise("archive-damaged", { sha256, problem }),
  });
  const retention = new Retention({
    ...{ blobs, limits: storage, offline },
    listIrreplaceable: () => listIrreplaceable({ releases, versions }),
    onEvicted: (blob) => {
      metrics?.archives.inc({ outcome: "evicted" });
      logger.info({ ...blob }, "an archive was evicted");
    },
    measureRecords: () => records.measure(),
  });
  metrics?.watchStore(() => retention.readFigures());
  const reserve: Reserve = (...asked) => retention.reserve(...asked);
  const bucket =
    storage.s3 &&
    wireBucket(storage.s3, (problem) => {
      if (problem === undefined) logger.info("the bucket is well again");
      else alarms.raise("bucket-failing", { problem });
    });
  // One that does not answer has no archives until it does.
  void bucket?.look();
  const nearest =
    bucket &&
    new SharedArchives(
      layout,
      blobs,
      bucket,
      limits.archive,
      (sha256, reason) => {
        const problem = `the archive ${sha256} is not brought into it: ${reason}`;
        alarms.raise("bucket-failing", { problem });
      },
    );
  if (nearest !== undefined && metrics !== undefined) {
    metrics.watch(metrics.bucketDegraded, () =>
      Number(bucket?.problem !== undefined),
    );
    metrics.watch(metrics.bucketOutbox, () => nearest.size);
  }
  const hashing = new ArchiveThreads(packageLimits);
  const hashes = new PackageHashes(blobs, records, hashing, (sha256, err) => {
    if (!hashing.isClosed)
      logger.error({ sha256, err }, "an archive could not be hashed");
  });
  const archives = new Archives(
    { blobs, reserve },
    { ...downloadLimits, ...limits },
    {
      onVerified: (sha256: Sha256, stored: Promise<void>) =>
        hashes.schedule(sha256, stored),
      onFailed: (archive, error, host) => {
        if (isFailure(error, "archive-digest")) {
          const { expected, got } = error;
          alarms.raise("archive-tampered", { archive, host, expected, got });
        }
        const { message } = error as Error;
        logger.warn(
          { archive, host, error: message },
          "an archive was not stored",
        );
      },
    },
    nearest,
  );
  metrics?.watchWaiters(() => archives.load.readers);
  metrics?.watch(metrics.fills, () => archives.load.fills);
  metrics?.watch(metrics.fillsWaiting, () => archives.load.waiting);

  // Whom it asks.
  for (const hostname of origins.keys()) metrics?.expectOrigin(hostname);
  const clients = wireClients(configuration, telemetry, clock);
  const asked = wireOrigins(configuration, {
    ...{ clients, clock, judge, logger, blobs, reserve },
  });

  // What decides which release clients get.
  const notebook: Notebook = {
    ...{ audit, alarms, clock },
    onReported: ({ code }) => metrics?.policyReported.inc({ code }),
  };
  const admission = new Admission(trust, notebook, wireRules(configuration));
  const events = new TrustEvents(trust, notebook);
  const remembered = cache(releases);
  const catalog = new ProviderCatalog({
    origins: asked.providers,
    ...{ versions, releases: remembered, events, notFound },
    onVanished: (address, vanished) => {
      const provider = formatProviderAddress(address);
      alarms.raise("versions-vanished", { provider, versions: vanished });
    },
    onMalformed: (address, parts) => {
      const provider = formatProviderAddress(address);
      logger.warn(
        { provider, parts },
        "malformed parts of a list are left out",
      );
    },
  });
  const settlements = new Settlements({
    ...{ releases: remembered, records: releases, events, notebook },
  });
  const refused = new RefusedVersions({
    ...{ records, clock, changes, onUnwritten },
  });
  const standings = new Standings({
    ...{ catalog, settlements, events, refused, clock, offline },
    patience: limits.answer,
  });

  // The two mirrors.
  const providers = new ProviderMirror({
    ...{ catalog, standings, admission, archives, hashes, releases, clock },
    ...{ changes, alarms, offline, freshness: freshness.versions },
    wrong: makeWrongArchives(records, clock),
  });
  const moduleThreads = new ArchiveThreads(moduleLimits);
  const modules = new ModuleMirror({
    ...{ blobs, reserve, nearest, admission, clock, offline },
    origins: asked.modules,
    stored: archives,
    records,
    pins: makeModulePins(records, trust, events, clock),
    versions: cache(versionRecords(records, moduleVersionNaming)),
    releases: cache(moduleReleaseRecords(records)),
    limits: { ...downloadLimits, ...limits },
    patience: limits.answer,
    threads: moduleThreads,
    ...{ alarms, logger, metrics },
  });

  // Other processes may have changed any of what is remembered.
  records.listen((changed) => {
    changes.noteRecords(changed);
    retention.forget();
    for (const made of caches) made.forget(changed);
    if (isAbout(changed, "namespaces", "first_contacts")) trust.forget();
    if (isAbout(changed, "package_hashes")) hashes.forget();
    if (isAbout(changed, "refused_versions")) refused.forget();
  });

  /** Ends the downloads under way and refuses new ones; what is stored can still be read. */
  const stopFetching = async () => {
    await Promise.all([archives.close(), modules.close()]);
  };
  const close = async () => {
    await stopFetching();
    await Promise.all([
      ...[hashing.close(), moduleThreads.close(), clients.close()],
    ]);
    await nearest?.close();
    await Promise.all([signatures.close(), blobs.usage.flush()]);
    await bucket?.close();
  };
  return {
    ...{ clock, records, trust, changes, releases, versions },
    ...{ blobs, retention, reserve, bucket, nearest, hashes, archives },
    ...{ notebook, admission, events, catalog, settlements },
    ...{ standings, providers, modules, stopFetching, close },
  };
}

/** Milliseconds between two lines on the same record. */
const quiet = 60_000;

function wireRecords({ database, logger, alarms }: Telemetry): RecordStore {
  const reported = new LRUCache<string, true>({ max: 1_000, ttl: quiet });
  return new RecordStore(database, {
    onUnreadable: ({ file, problem, remedy }) =>
      alarms.raise("record-unreadable", { file, problem, remedy }),
    onPassedOver: (record, problem) => {
      if (reported.has(record)) return;
      reported.set(record, true);
      logger.warn({ record, problem }, "a damaged record is passed over");
    },
  });
}

/** Milliseconds: an archive comes from its origin where the bucket is slower. */
const bucketLimits = { connect: 1_000, firstByte: 2_000, idle: 8_000 };

export function wireBucket(
  { addressing, accessKeyId, secretAccessKey, ...place }: S3Configuration,
  onProblem?: (problem: string | undefined) => void,
): Bucket {
  const isGiven = accessKeyId !== undefined && secretAccessKey !== undefined;
  const settings = {
    ...place,
    pathStyle: addressing === "path",
    keys: isGiven
      ? { accessKeyId, secretAccessKey: secretAccessKey.secret }
      : undefined,
  };
  return new Bucket(settings, bucketLimits, onProblem);
}

/** True where records of one of these tables may be among those that changed. */
function isAbout(
  changed: ReadonlySet<string> | undefined,
  ...tables: readonly RecordTable[]
): boolean {
  const isOne = (name: string) =>
    tables.some((table) => name.startsWith(`${table}/`));
  return changed?.values().some(isOne) ?? true;
}

export function wireRules({
  policy,
  trust,
  offline,
}: Configuration): AdmissionRules {
  return {
    offline,
    mode: policy.mode,
    policy: parsePolicy(policy),
    newKeys: trust.newKeys,
    pins: trust.keys.map(({ match: pattern, fingerprints }) => ({
      ...{ pattern, fingerprints },
    })),
  };
}
