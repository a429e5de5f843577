import type { Sha256 } from "../address/hash.ts";
import type { Hostname } from "../address/hostname.ts";
import { formatModuleAddress } from "../address/module-address.ts";
import { withoutQuery } from "../address/module-source.ts";
import { formatProviderAddress } from "../address/provider-address.ts";
import type { Configuration } from "../config/load.ts";
import { failure, isFailure } from "../errors/index.ts";
import { downloadLimits } from "../mirror/archives/places.ts";
import { Archives } from "../mirror/archives/archives.ts";
import { WrongArchives } from "../mirror/archives/wrong-archives.ts";
import { openWorkRoom } from "../mirror/archives/room.ts";
import { GitPacker } from "../mirror/modules/git-packing.ts";
import {
  ModuleMirror,
  type ModuleOrigin,
} from "../mirror/modules/module-mirror.ts";
import {
  moduleReleaseRecords,
  moduleVersionNaming,
} from "../mirror/modules/records.ts";
import { formatModuleRelease } from "../mirror/modules/release.ts";
import { ModulePins } from "../mirror/modules/pins.ts";
import { ProviderMirror } from "../mirror/providers/provider-mirror.ts";
import { PackageHashes } from "../mirror/releases/package-hashes.ts";
import type { ReleaseOrigin } from "../mirror/releases/evidence.ts";
import { FirstContacts } from "../mirror/standings/first-contacts.ts";
import { ProviderCatalog } from "../mirror/standings/provider-catalog.ts";
import { RefusedVersions } from "../mirror/standings/refusals.ts";
import { Standings } from "../mirror/standings/standings.ts";
import type { AdmissionRules } from "../mirror/trust/admission-rules.ts";
import { Admission } from "../mirror/trust/admission.ts";
import { type Notebook, TrustEvents } from "../mirror/trust/trust-events.ts";
import { Settlements } from "../mirror/trust/settlements.ts";
import { VersionRecords } from "../mirror/versions/version-records.ts";
import { FolderModules } from "../origin/folder/folder-modules.ts";
import { OriginFolder } from "../origin/folder/origin-folder.ts";
import { GitRepositories } from "../origin/git/repository.ts";
import { originLimits } from "../origin/guard/origin-settings.ts";
import { ModuleRegistry } from "../origin/registries/module-registry.ts";
import { ServiceDiscovery } from "../origin/registries/service-discovery.ts";
import type { StoreLayout } from "../store/layout.ts";
import {
  archiveDeadline,
  moduleLimits,
} from "../verification/archives/limits.ts";
import { ArchiveThreads } from "../verification/archives/threads.ts";
import { settingsOf, wireClients } from "./clients.ts";
import {
  isAbout,
  type Kept,
  type KeptParts,
  wireCaches,
  wireHashing,
  wireKept,
} from "./kept.ts";
import { freshnessOf, wireOrigins } from "./origins.ts";
import type { Telemetry } from "./telemetry.ts";
import { parseProviderPattern } from "../address/policy-pattern.ts";
import { parsePolicy } from "../trust/policy.ts";

/** All of a daemon but its protocols; modules are wired when they are first asked for. */
export interface Core extends Providers {
  readonly modules: ModuleMirror;
}

interface CoreParts extends KeptParts {
  /** Runs at the end of a command, once nothing is fetched any longer. */
  readonly close?: (kept: Kept) => Promise<void>;
}

const closeKept = (kept: Kept) => kept.close();

export function wireCore(
  configuration: Configuration,
  rules: AdmissionRules,
  layout: StoreLayout,
  telemetry: Telemetry,
  { close = closeKept, ...parts }: CoreParts = {},
): Core {
  const kept = wireKept(configuration, layout, telemetry, parts);
  const providers = wireProviders(configuration, rules, kept, telemetry);
  let wired: ReturnType<typeof wireModules> | undefined;
  const modules = () =>
    (wired ??= wireModules(
      configuration,
      providers,
      telemetry,
      wireCaches(configuration, telemetry, providers),
    ));
  const stopFetching = async () => {
    await Promise.all([providers.stopFetching(), wired?.close()]);
  };
  return {
    ...providers,
    get modules() {
      return modules().mirror;
    },
    stopFetching,
    close: async () => {
      await stopFetching();
      await close(providers);
    },
  };
}

/** The mirror of providers without its protocols: what commands work with, and a part of a daemon. */
type Providers = ReturnType<typeof wireProviders>;

function wireProviders(
  configuration: Configuration,
  rules: AdmissionRules,
  kept: Kept,
  telemetry: Telemetry,
) {
  const { offline } = configuration;
  const { alarms, audit, logger, metrics } = telemetry;
  const { clock, trust, blobs, records, releases } = kept;
  const hashing = wireHashing();
  const hashes = new PackageHashes(blobs, records, hashing, (sha256, err) => {
    if (!hashing.isClosed)
      logger.error({ sha256, err }, "an archive could not be hashed");
  });
  kept.listen((changed) => {
    if (isAbout(changed, "package_hashes")) hashes.forget();
  });
  const archives = wireArchives(configuration, kept, hashes, telemetry);
  const clients = wireClients(configuration, telemetry, clock);
  const origins = wireOrigins(configuration, clients.own, kept, logger);
  const notebook: Notebook = {
    ...{ audit, alarms, clock },
    onReported: ({ code }) => metrics?.count("policyReported", { code }),
  };
  const admission = new Admission(trust, notebook, rules);
  const events = new TrustEvents(trust, notebook);
  const trusted = { ...kept, events, notebook };
  const settling = wireStandings(configuration, origins, trusted, telemetry);
  const providers = new ProviderMirror({
    ...{ ...settling, admission, archives, hashes, releases, clock },
    changes: kept.changes,
    wrong: new WrongArchives(records, clock),
    ...{ alarms, offline },
    freshness: configuration.freshness.versions,
  });
  /** Ends the downloads under way and refuses new ones; what is stored can still be read. */
  const stopFetching = () => archives.close();
  const close = async () => {
    await stopFetching();
    await Promise.all([hashing.close(), clients.close()]);
    await kept.close();
  };
  return {
    ...kept,
    ...settling,
    ...{ archives, clients, hashes, notebook, admission, events },
    ...{ providers, stopFetching, close },
  };
}

/** Everything that decides which release clients get. */
function wireStandings(
  configuration: Configuration,
  origins: ReadonlyMap<Hostname, ReleaseOrigin>,
  {
    events,
    notebook,
    ...kept
  }: Kept & { readonly events: TrustEvents; readonly notebook: Notebook },
  telemetry: Telemetry,
) {
  const { limits, offline } = configuration;
  const { clock, records, versions } = kept;
  const make = wireCaches(configuration, telemetry, kept);
  const { absence } = make;
  const releases = make.cache(kept.releases);
  const catalog = new ProviderCatalog({
    ...{ origins, versions, releases, events },
    notFound: absence,
    onVanished: (address, vanished) => {
      const provider = formatProviderAddress(address);
      const facts = { provider, versions: vanished };
      telemetry.alarms.raise("versions-vanished", facts);
    },
    onMalformed: (address, parts) => {
      const provider = formatProviderAddress(address);
      const facts = { provider, parts };
      telemetry.logger.warn(facts, "malformed parts of a list are left out");
    },
  });
  const settlements = new Settlements({
    ...{ releases, records: kept.releases, events, notebook },
  });
  const refused = new RefusedVersions({
    ...{ records, clock, changes: kept.changes },
    onUnwritten: make.onUnwritten,
  });
  kept.listen((changed) => {
    if (isAbout(changed, "refused_versions")) refused.forget();
  });
  const contacts = new FirstContacts({
    ...{ catalog, events, refused, clock, offline },
    patience: limits.answer,
  });
  const deciding = { catalog, contacts, settlements, refused };
  return { catalog, settlements, standings: new Standings(deciding) };
}

function wireArchives(
  { limits }: Configuration,
  { blobs, reserve, nearest }: Kept,
  hashes: PackageHashes,
  { logger, metrics, alarms }: Telemetry,
): Archives {
  const events = {
    onVerified: (sha256: Sha256, stored: Promise<void>) =>
      hashes.schedule(sha256, stored),
    onFailed: (archive: string, error: unknown, host: string | undefined) => {
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
  };
  const cache = new Archives(
    { blobs, reserve },
    { ...downloadLimits, ...limits },
    events,
    nearest,
  );
  metrics?.watchWaiters(() => cache.load.readers);
  metrics?.watch({
    fills: () => cache.load.fills,
    fillsWaiting: () => cache.load.waiting,
  });
  return cache;
}

function wireModules(
  configuration: Configuration,
  core: Providers,
  { alarms, logger, metrics }: Telemetry,
  make: ReturnType<typeof wireCaches>,
) {
  const { limits, offline } = configuration;
  const { blobs, clock, nearest, records, reserve } = core;
  const threads = new ArchiveThreads({
    threads: 2,
    deadlineMs: archiveDeadline,
    limits: moduleLimits,
  });
  const pins = new ModulePins(records, core.trust, core.events, clock);
  const mirror = new ModuleMirror({
    ...{ blobs, reserve, records, pins, offline, clock },
    admission: core.admission,
    nearest,
    limits: { ...downloadLimits, ...limits },
    verify: (module, format, archive) =>
      threads.verify(module, format, archive),
    onFailed: (module, error) =>
      logger.warn(
        { module, error: (error as Error).message },
        "a module was not stored",
      ),
    origins: wireModuleOrigins(configuration, core),
    versions: make.cache(new VersionRecords(records, moduleVersionNaming)),
    releases: make.cache(moduleReleaseRecords(records)),
    stored: core.archives,
    patience: limits.answer,
    onVanished: (address, versions) => {
      const module = formatModuleAddress(address);
      alarms.raise("versions-vanished", { module, versions });
    },
    onPassedThrough: (address, getter, location) => {
      metrics?.countPassedThrough(getter);
      logger.warn(
        {
          module: formatModuleRelease(address),
          getter,
          location: withoutQuery(location),
        },
        "clients are sent elsewhere for a module that the mirror cannot fetch",
      );
    },
  });
  const close = async () => {
    await Promise.all([mirror.close(), threads.close()]);
  };
  return { mirror, close };
}

function wireModuleOrigins(
  configuration: Configuration,
  { clients, clock, blobs, reserve }: Providers,
): ReadonlyMap<Hostname, ModuleOrigin> {
  const { origins, freshness, proxy, searchPath } = configuration;
  const limits = originLimits(configuration.limits);
  const packing = new GitPacker(moduleLimits);
  return new Map(
    [...origins].flatMap(([hostname, origin]) => {
      const client = clients.own.get(hostname);
      if (client === undefined) return [];
      const stranger = clients.makeStranger(origin);
      const { versions } = freshness;
      const discovery = new ServiceDiscovery(client, origin.url, versions, () =>
        clock.monotonic(),
      );
      const documents = documentsOf(hostname, origin.url);
      const registry = new ModuleRegistry(client, discovery, limits, documents);
      const git = new GitRepositories({
        settings: settingsOf(origin, undefined, proxy),
        http: stranger,
        limits: { ...configuration.limits, ...limits },
        searchPath,
        createFolder: () => blobs.createFolder(),
        openRoom: () => openWorkRoom(reserve, "the module's repository"),
      });
      const { directory } = origin;
      const folder =
        directory === undefined
          ? undefined
          : new FolderModules(new OriginFolder(directory, hostname), limits);
      const parts: ModuleOrigin = {
        registry: folder ?? registry,
        sources: folder ?? {
          openArchive: ({ url }, _, signal) =>
            stranger.openArchive(url, signal),
          findCommit: (source, signal) => git.findCommit(source, signal),
          fetchCommit: (...asked) => git.fetchCommit(...asked),
        },
        freshFor: freshnessOf(origin),
        packing,
      };
      return [[hostname, parts]];
    }),
  );
}

/** Where OpenTofu's registry says when modules were published: a host of its own, unless another stands in for all of it; a mirror upstream has its protocols alone. */
function documentsOf(hostname: Hostname, url: URL): URL | undefined {
  if (hostname !== openTofuHost || url.pathname !== "/") return undefined;
  return url.host === openTofuHost ? new URL(openTofuDocuments) : url;
}

const openTofuHost = "registry.opentofu.org";
const openTofuDocuments = "https://api.opentofu.org/";

/** Builds the rules of a configuration. */
export function wireRules({
  policy,
  trust,
  offline,
  source,
}: Configuration): AdmissionRules {
  try {
    return {
      offline,
      mode: policy.mode,
      policy: parsePolicy(policy),
      newKeys: trust.newKeys,
      pins: trust.keys.map(({ match, fingerprints }) => ({
        pattern: parseProviderPattern(match),
        fingerprints,
      })),
    };
  } catch (error) {
    if (!isFailure(error, "malformed-address")) throw error;
    throw failure("configuration", source ?? "", error.sentence, error.remedy);
  }
}
