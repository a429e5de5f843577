import type { Sha256 } from "../address/hash.ts";
import { type Configuration } from "../config/load.ts";
import { ArchiveDigestWrong, StoreFull } from "../errors/index.ts";
import { Admission, type AdmissionRules } from "../mirror/trust/admission.ts";
import { ArchiveCache } from "../mirror/cache/archive-cache.ts";
import { systemClock, type Clock } from "../mirror/cache/clock.ts";
import type { ArchiveEnsurer } from "../mirror/providers/ensured-archive.ts";
import type { ModuleMirror } from "../mirror/modules/module-mirror.ts";
import { LearntDigests } from "../mirror/releases/learnt-digests.ts";
import { PackageHashes } from "../mirror/releases/package-hashes.ts";
import { PlatformArchives } from "../mirror/providers/platform-archives.ts";
import type { ProviderCatalog } from "../mirror/providers/provider-catalog.ts";
import { ProviderMirror } from "../mirror/providers/provider-mirror.ts";
import type { ReleaseHistory } from "../mirror/trust/release-history.ts";
import type { ReleaseRecords } from "../mirror/releases/records.ts";
import type { Retention } from "../mirror/upkeep/retention.ts";
import { TrustLedger } from "../mirror/trust/ledger.ts";
import type { BlobStore } from "../store/blobs/blob-store.ts";
import { type StoreLayout } from "../store/layout.ts";
import type { RecordStore } from "../store/records/record-store.ts";
import { SignatureThreads } from "../verification/openpgp/threads.ts";
import { wireCatalog } from "./catalog.ts";
import { wireModules } from "./modules.ts";
import { wireClients, wireOrigins } from "./origins.ts";
import { wireStore } from "./store.ts";
import { wireHashing, wireJudge } from "./threads.ts";
import type { Watch } from "./watch.ts";

/** The mirror without a face. */
export interface Core {
  readonly blobs: BlobStore;
  readonly records: RecordStore;
  readonly hashes: PackageHashes;
  readonly catalog: ProviderCatalog;
  readonly providers: ProviderMirror;
  readonly modules: ModuleMirror;
  readonly admission: Admission;
  readonly releases: ReleaseRecords;
  readonly history: ReleaseHistory;
  readonly retention: Retention;
  /** Counts what this process changes of what answers are made of. */
  readonly countChanges: () => number;
  /** Ends the downloads under way and refuses new ones; what is stored can still be read. */
  stopFetching(): Promise<void>;
  close(): Promise<void>;
}

export function wireCore(
  configuration: Configuration,
  rules: AdmissionRules,
  layout: StoreLayout,
  watch: Watch,
  clock: Clock = systemClock,
): Core {
  const { logger } = watch;
  const names = () => ({ catalog, ...kept });
  const store = wireStore(configuration, layout, names, watch);
  const { records, countChanges, blobs, retention } = store;
  const signatures = wireSignatures(configuration);
  const hashing = wireHashing(configuration);
  const hashes = new PackageHashes(blobs, records, hashing, (sha256, err) => {
    if (!hashing.isClosed)
      logger.error({ sha256, err }, "an archive could not be hashed");
  });
  const archives = wireArchives(configuration, blobs, hashes, retention, watch);
  const clients = wireClients(configuration, watch, clock);
  const ledger = new TrustLedger(records);
  const admission = new Admission({ ...watch, ledger, clock }, rules);
  const judge = wireJudge(signatures);
  const learnt = wireLearnt(configuration, hashes, store);
  const { catalog, ...kept } = wireCatalog(
    configuration,
    wireOrigins(configuration, clients.own, judge, { clock, learnt }),
    { records, judge, admission, logger },
  );
  const providers = new ProviderMirror({
    catalog,
    admission,
    archives,
    hashes,
    learnt,
    offline: configuration.offline,
    ...kept,
    alarms: watch.alarms,
    onDescribed: (address, release) => platforms.want(address, release),
  });
  const platforms = wirePlatforms(configuration, { providers, hashes });
  const stored = { blobs, records, archives, retention, admission };
  const modules = wireModules(configuration, clients, { ...watch, ...stored });
  const closing = wireClosing(
    [platforms, archives, learnt, modules.archives, ...modules.threads],
    [signatures, hashing, clients, blobs.usage],
  );
  const parts = { blobs, records, hashes, catalog, providers, admission };
  const others = { retention, countChanges, modules: modules.mirror };
  return { ...parts, ...kept, ...others, ...closing };
}

/** A mirror that asks nobody has nothing to fetch. */
function wirePlatforms(
  { platforms, offline }: Configuration,
  ensurer: ArchiveEnsurer,
): PlatformArchives {
  return new PlatformArchives(offline ? [] : platforms, ensurer);
}

interface Closable {
  close(): Promise<unknown>;
}

function wireClosing(
  fetching: readonly Closable[],
  others: readonly Closable[],
): Pick<Core, "stopFetching" | "close"> {
  const closeAll = (all: readonly Closable[]) =>
    Promise.all(all.map((one) => one.close()));
  const stopFetching = async () => {
    await closeAll(fetching);
  };
  const close = async () => {
    await stopFetching();
    await closeAll(others);
  };
  return { stopFetching, close };
}

function wireLearnt(
  { limits }: Configuration,
  hashes: PackageHashes,
  { blobs, records, retention }: Pick<Core, "blobs" | "records" | "retention">,
): LearntDigests {
  return new LearntDigests({
    blobs,
    records,
    hashes,
    limits,
    reserve: (size, written) => retention.reserve(size, written),
  });
}

function wireSignatures({ limits }: Configuration): SignatureThreads {
  const { signatureDeadline: deadlineMs } = limits;
  return new SignatureThreads({ threads: 2, deadlineMs });
}

function wireArchives(
  { limits }: Configuration,
  blobs: BlobStore,
  hashes: PackageHashes,
  retention: Retention,
  { logger, metrics, alarms }: Watch,
): ArchiveCache {
  const events = {
    onVerified: (sha256: Sha256, stored: Promise<void>) =>
      hashes.schedule(sha256, stored),
    onFailed: (archive: string, error: unknown) => {
      if (error instanceof StoreFull) metrics.countArchive("passed");
      if (error instanceof ArchiveDigestWrong) {
        const { expected, got } = error;
        alarms.raise("archive-tampered", { archive, expected, got });
      }
      const { message } = error as Error;
      logger.warn({ archive, error: message }, "an archive was not stored");
    },
  };
  return new ArchiveCache(blobs, limits, events, (size, written) =>
    retention.reserve(size, written),
  );
}
