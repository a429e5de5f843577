import { hostname as machineName } from "node:os";
import type { Configuration, Limits, OriginConfiguration } from "./config.ts";
import type { Hostname } from "./address/hostname.ts";
import { SignatureUndecided } from "./errors.ts";
import { ArchiveCache } from "./mirror/archive-cache.ts";
import { systemClock } from "./mirror/clock.ts";
import {
  MetadataCache,
  type MetadataRecords,
} from "./mirror/metadata-cache.ts";
import { PackageHashes } from "./mirror/package-hashes.ts";
import { ProviderMirror } from "./mirror/provider-mirror.ts";
import type { ReleaseOrigin } from "./mirror/release-fetch.ts";
import { ReleaseRecords } from "./mirror/release-records.ts";
import type { SignatureJudge } from "./mirror/release-verdict.ts";
import { VersionRecords } from "./mirror/version-records.ts";
import { hostAndPort } from "./origin/address-guard.ts";
import { HttpClient } from "./origin/http-client.ts";
import { ProviderRegistry } from "./origin/provider-registry.ts";
import { ServiceDiscovery } from "./origin/service-discovery.ts";
import { makeApp } from "./server/app.ts";
import { Daemon } from "./server/daemon.ts";
import { NetworkMirrorFace } from "./server/network-mirror.ts";
import { Readiness } from "./server/operations.ts";
import { ServiceNotification } from "./server/service-notification.ts";
import { makeCertificateSource } from "./server/certificate-source.ts";
import { BlobStore } from "./store/blob-store.ts";
import { layOutStore, type StoreLayout } from "./store/layout.ts";
import { RecordStore } from "./store/record-store.ts";
import {
  lockStorageDirectory,
  prepareStorageDirectory,
} from "./store/storage-directory.ts";
import { makeLogger, type Logger } from "./telemetry/logger.ts";
import { PackageHashThreads } from "./verification/package-hash-threads.ts";
import type { PackageLimits } from "./verification/zip-directory.ts";
import { SignatureThreads } from "./verification/signature-threads.ts";
import { decisionLibrary } from "./verification/signature.ts";

/** The mirror without a face. */
interface Core {
  readonly blobs: BlobStore;
  readonly providers: ProviderMirror;
  close(): Promise<void>;
}

/** A daemon that holds its storage directory and is about to listen. Throws StoreUnusable and StoreInUse. */
export async function wireDaemon(
  configuration: Configuration,
): Promise<Daemon> {
  const { listen, limits, storage, notify } = configuration;
  const layout = layOutStore(storage.directory);
  await prepareStorageDirectory(layout);
  const lock = lockStorageDirectory(layout);
  const logger = makeLogger(configuration.log);
  const core = wireCore(configuration, layout, logger);
  const readiness = new Readiness(() => core.blobs.probe());
  const app = makeApp({
    providers: new NetworkMirrorFace(core.providers, limits),
    readiness,
    logger,
    longestUrl: limits.url,
  });
  return new Daemon({
    app,
    listen,
    limits,
    hostnames: [...configuration.origins.keys()],
    machineName: machineName(),
    certificates: makeCertificateSource(listen, layout.tls, machineName()),
    readiness,
    notification: new ServiceNotification({
      ...notify,
      onFailure: (error) =>
        logger.warn({ err: error }, "the service manager was not reached"),
    }),
    sweep: (before) => core.blobs.sweepStaging(before),
    logger,
    close: async () => {
      await core.close();
      lock.release();
    },
  });
}

function wireCore(
  configuration: Configuration,
  layout: StoreLayout,
  logger: Logger,
): Core {
  const { limits } = configuration;
  const blobs = new BlobStore(layout);
  const records = new RecordStore(layout, (key) =>
    logger.warn({ record: key.join("/") }, "a damaged record is passed over"),
  );
  const signatures = new SignatureThreads({
    threads: 2,
    deadlineMs: limits.signatureDeadline,
  });
  const hashing = wireHashing(configuration);
  const hashes = new PackageHashes(blobs, records, hashing, (sha256, error) =>
    logger.error({ sha256, err: error }, "an archive could not be hashed"),
  );
  const archives = new ArchiveCache(blobs, limits, {
    onVerified: (sha256, stored) => hashes.schedule(sha256, stored),
    onFailed: (archive, error) =>
      logger.warn(
        { archive, error: (error as Error).message },
        "an archive was not stored",
      ),
  });
  const clients = wireClients(configuration);
  const providers = wireProviders(configuration, clients, {
    records,
    archives,
    hashes,
    judge: wireJudge(signatures),
    logger,
  });
  const close = async () => {
    await archives.close();
    await Promise.all([signatures.close(), hashing.close()]);
    await Promise.all([...clients.values()].map((client) => client.close()));
  };
  return { blobs, providers, close };
}

function wireProviders(
  configuration: Configuration,
  clients: ReadonlyMap<Hostname, HttpClient>,
  parts: {
    readonly records: RecordStore;
    readonly archives: ArchiveCache;
    readonly hashes: PackageHashes;
    readonly judge: SignatureJudge;
    readonly logger: Logger;
  },
): ProviderMirror {
  const { limits, freshness, offline, policy } = configuration;
  const makeCache = <K, V extends object>(records: MetadataRecords<K, V>) =>
    new MetadataCache(
      records,
      { ...limits, ...freshness },
      systemClock,
      offline,
    );
  const releaseRecords = new ReleaseRecords(parts.records, parts.judge);
  return new ProviderMirror({
    ...parts,
    origins: wireOrigins(configuration, clients, parts.judge),
    versions: makeCache(new VersionRecords(parts.records)),
    releases: makeCache(releaseRecords),
    offline,
    fallThrough: policy.otherHosts === "not-found",
    listKept: (provider) => releaseRecords.list(provider),
    onHashConflict: (archive, reported, computed) =>
      parts.logger.error(
        { archive, reported, computed },
        "the registry reports another h1 than its archive has",
      ),
  });
}

function wireOrigins(
  { origins, limits, freshness }: Configuration,
  clients: ReadonlyMap<Hostname, HttpClient>,
  judge: SignatureJudge,
): ReadonlyMap<Hostname, ReleaseOrigin> {
  return new Map(
    [...clients].flatMap(([hostname, client]) => {
      const origin = origins.get(hostname);
      if (origin === undefined) return [];
      const discovery = new ServiceDiscovery(
        client,
        origin.url,
        freshness.versions,
      );
      const registry = new ProviderRegistry(client, discovery, limits);
      const { signatures, verification: profile } = origin;
      const policy = { signatures, profile };
      return [[hostname, { registry, policy, judge, clock: systemClock }]];
    }),
  );
}

function wireClients({
  origins,
  proxy,
  limits,
}: Configuration): ReadonlyMap<Hostname, HttpClient> {
  const make = (origin: OriginConfiguration) =>
    new HttpClient(
      {
        ...origin,
        token: origin.token?.secret,
        configuredHosts: new Set(
          origin.urlConfigured ? [hostAndPort(origin.url)] : [],
        ),
        proxy,
      },
      limits,
    );
  return new Map([...origins].map(([name, origin]) => [name, make(origin)]));
}

function wireHashing({ limits }: Configuration): PackageHashThreads {
  return new PackageHashThreads({
    threads: 2,
    deadlineMs: limits.hashDeadline,
    limits: zipLimits(limits),
  });
}

export function zipLimits(limits: Limits): PackageLimits {
  return {
    entries: limits.zipEntries,
    expandedBytes: limits.zipExpanded,
    ratio: limits.zipRatio,
  };
}

function wireJudge(signatures: SignatureThreads): SignatureJudge {
  return {
    library: decisionLibrary,
    decide: (release, question) =>
      signatures.decide(question).catch((error: unknown) => {
        const reason = error instanceof Error ? error.message : "unknown";
        throw new SignatureUndecided(release, reason, { cause: error });
      }),
  };
}
