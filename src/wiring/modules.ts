import { type Configuration } from "../config/load.ts";
import type { Hostname } from "../address/hostname.ts";
import { formatModuleAddress } from "../address/module-address.ts";
import { withoutQuery } from "../address/module-source.ts";
import { openWorkRoom } from "../mirror/cache/download-steps.ts";
import { ModuleAdmission } from "../mirror/modules/admission.ts";
import { ModuleArchives } from "../mirror/modules/archives.ts";
import type { ModuleOrigin } from "../mirror/modules/fetch.ts";
import { GitPacker } from "../mirror/modules/git-packing.ts";
import {
  ModuleMirror,
  type ModuleMirrorParts,
} from "../mirror/modules/module-mirror.ts";
import {
  ModuleReleaseRecords,
  ModuleTrustRecords,
  moduleVersionNaming,
} from "../mirror/modules/records.ts";
import { formatModuleRelease } from "../mirror/modules/release.ts";
import { ModuleSettlements } from "../mirror/modules/settlements.ts";
import { VersionRecords } from "../mirror/versions/version-records.ts";
import { GitRepositories } from "../origin/git/repository.ts";
import { OriginFolder } from "../origin/folder/origin-folder.ts";
import { FolderModules } from "../origin/folder/folder-modules.ts";
import { ModuleRegistry } from "../origin/registries/module-registry.ts";
import { ServiceDiscovery } from "../origin/registries/service-discovery.ts";
import { ArchiveThreads } from "../verification/archives/threads.ts";
import { wireCaches } from "./kept.ts";
import { settingsOf, type OriginClients } from "./clients.ts";
import { freshnessOf } from "./origins.ts";
import type { Providers } from "./providers.ts";
import { shareLimits } from "../mirror/cache/fair-share.ts";
import { originLimits } from "../origin/guard/origin-settings.ts";
import {
  archiveDeadline,
  moduleLimits,
} from "../verification/archives/limits.ts";
import type { Telemetry } from "./telemetry.ts";

type ModuleParts = Telemetry &
  Pick<
    Providers,
    | "admission"
    | "archives"
    | "blobs"
    | "clients"
    | "clock"
    | "events"
    | "nearest"
    | "records"
    | "replica"
    | "reserve"
    | "trust"
  >;

export function wireModules(configuration: Configuration, parts: ModuleParts) {
  const { limits, offline, policy } = configuration;
  const { clock, clients } = parts;
  const make = wireCaches(configuration, parts, parts);
  const records = new ModuleTrustRecords(parts.records);
  const threads = new ArchiveThreads({
    threads: 2,
    deadlineMs: archiveDeadline,
    limits: moduleLimits,
  });
  const packing = new GitPacker(moduleLimits);
  const settlements = new ModuleSettlements({ ...parts, records });
  const archives = wireModuleArchives(
    configuration,
    threads,
    settlements,
    parts,
  );
  const mirror = new ModuleMirror({
    origins: wireModuleOrigins(configuration, clients, {
      clock,
      packing,
      blobs: parts.blobs,
      reserve: parts.reserve,
    }),
    versions: make.cache(
      new VersionRecords(parts.records, moduleVersionNaming),
    ),
    releases: make.cache(new ModuleReleaseRecords(parts.records)),
    archives,
    records,
    settlements,
    stored: parts.archives,
    admission: new ModuleAdmission(parts.admission, clock),
    offline,
    fallThrough: policy.otherHosts === "not-found",
    patience: limits.answer,
    ...wireModuleNews(parts),
  });
  const close = async () => {
    await Promise.all([archives.close(), threads.close()]);
  };
  return { mirror, archives, close };
}

function wireModuleNews({
  alarms,
  metrics,
  logger,
}: Telemetry): Pick<ModuleMirrorParts, "onVanished" | "onPassedThrough"> {
  return {
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
  };
}

function wireModuleArchives(
  { limits }: Configuration,
  threads: ArchiveThreads,
  settlements: ModuleSettlements,
  { blobs, reserve, nearest, logger }: ModuleParts,
): ModuleArchives {
  return new ModuleArchives({
    blobs,
    nearest: nearest?.archives,
    settlements,
    limits: { ...shareLimits, ...limits },
    reserve,
    verify: (module, format, archive) =>
      threads.verify(module, format, archive),
    onFailed: (module, error) =>
      logger.warn(
        { module, error: (error as Error).message },
        "a module was not stored",
      ),
  });
}

interface OriginParts extends Pick<Providers, "clock" | "blobs" | "reserve"> {
  readonly packing: GitPacker;
}

function wireModuleOrigins(
  configuration: Configuration,
  { own, makeStranger }: OriginClients,
  { clock, packing, blobs, reserve }: OriginParts,
): ReadonlyMap<Hostname, ModuleOrigin> {
  const { origins, freshness, proxy, searchPath } = configuration;
  const limits = originLimits(configuration.limits);
  return new Map(
    [...origins].flatMap(([hostname, origin]) => {
      const client = own.get(hostname);
      if (client === undefined) return [];
      const stranger = makeStranger(origin);
      const { versions } = freshness;
      const discovery = new ServiceDiscovery(client, origin.url, versions, () =>
        clock.monotonic(),
      );
      const documents = documentsOf(hostname, origin.url);
      const asked = [client, discovery, limits, documents] as const;
      const registry = new ModuleRegistry(...asked);
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
          openArchive: ({ url }, module, signal) =>
            stranger.openArchive(url, signal, module),
          findCommit: (source, signal) => git.findCommit(source, signal),
          fetchCommit: (...asked) => git.fetchCommit(...asked),
        },
        freshFor: freshnessOf(origin),
        packing,
        clock,
      };
      return [[hostname, parts]];
    }),
  );
}

/** Where OpenTofu's registry says when modules were published: a host of its own, unless another stands in for all of it. */
function documentsOf(hostname: Hostname, url: URL): URL | undefined {
  if (hostname !== openTofuHost) return undefined;
  return url.host === openTofuHost ? new URL(openTofuDocuments) : url;
}

const openTofuHost = "registry.opentofu.org";
const openTofuDocuments = "https://api.opentofu.org/";
