import { LRUCache } from "lru-cache";
import {
  type Configuration,
  type OriginConfiguration,
} from "../config/load.ts";
import type { Hostname } from "../address/hostname.ts";
import { openWorkRoom, type ArchiveStore } from "../mirror/archives/room.ts";
import type { Clock } from "../mirror/cache/clock.ts";
import type { ModuleOrigin } from "../mirror/modules/module-mirror.ts";
import type {
  ReleaseOrigin,
  SignatureJudge,
  SignaturePolicy,
} from "../mirror/releases/evidence.ts";
import { makeFolderModules } from "../origin/folder/folder-modules.ts";
import { makeFolderProviders } from "../origin/folder/folder-providers.ts";
import { OriginFolder } from "../origin/folder/origin-folder.ts";
import { GitRepositories } from "../origin/git/repository.ts";
import { originLimits } from "../origin/guard/origin-settings.ts";
import { makeModuleRegistry } from "../origin/registries/module-registry.ts";
import { makeProviderRegistry } from "../origin/registries/provider-registry.ts";
import { ServiceDiscovery } from "../origin/registries/service-discovery.ts";
import type { Logger } from "../telemetry/logger.ts";
import { settingsOf, type wireClients } from "./clients.ts";

interface Surroundings extends ArchiveStore {
  readonly clients: ReturnType<typeof wireClients>;
  readonly clock: Clock;
  readonly judge: SignatureJudge;
  readonly logger: Logger;
}

/** Folders whose report is remembered. */
const mostReported = 10_000;

/** What is asked for providers and for modules, by hostname: a registry, or a folder that stands for one. */
export function wireOrigins(
  configuration: Configuration,
  { clients, clock, judge, logger, blobs, reserve }: Surroundings,
) {
  const { freshness, proxy, searchPath } = configuration;
  const limits = originLimits(configuration.limits);
  const providers = new Map<Hostname, ReleaseOrigin>();
  const modules = new Map<Hostname, ModuleOrigin>();
  for (const [hostname, origin] of configuration.origins) {
    const { directory, url, signatures, token } = origin;
    const common = { judge, clock, policy: signaturePolicyOf(origin) };
    if (directory !== undefined) {
      const folder = new OriginFolder(directory, hostname);
      const reported = new LRUCache<string, string>({ max: mostReported });
      // Asking it costs nothing.
      const freshFor = 1_000;
      const signed = signatures === "required";
      const report = (path: string, reason: string) => {
        if (reported.get(path) === reason) return;
        reported.set(path, reason);
        const facts = { folder: path, reason };
        logger.warn(facts, "a folder is not taken for a release");
      };
      const registry = makeFolderProviders(folder, limits, signed, report);
      providers.set(hostname, { ...common, registry, freshFor });
      modules.set(hostname, {
        ...{ registry: makeFolderModules(folder, limits), freshFor },
        openArchive: (...asked) => registry.openArchive(...asked),
      });
      continue;
    }
    const client = clients.make(origin, token?.secret);
    const now = () => clock.monotonic();
    const { versions } = freshness;
    const discovery = new ServiceDiscovery(client, url, versions, now);
    const registry = makeProviderRegistry(client, discovery, limits);
    providers.set(hostname, { ...common, registry });
    // For places that answers name elsewhere: it never gets the token.
    const stranger = clients.make(origin, undefined);
    const git = new GitRepositories({
      settings: settingsOf(origin, undefined, proxy),
      http: stranger,
      limits: { ...configuration.limits, ...limits },
      searchPath,
      createFolder: () => blobs.createFolder(),
      openRoom: () => openWorkRoom(reserve, "the module's repository"),
    });
    const documents = documentsOf(hostname, url);
    modules.set(hostname, {
      registry: makeModuleRegistry(client, discovery, limits, documents),
      openArchive: (...asked) => stranger.openArchive(...asked),
      git,
    });
  }
  return { providers, modules };
}

const openTofuHost = "registry.opentofu.org";
const openTofuDocuments = "https://api.opentofu.org/";

/** Where OpenTofu's registry says when modules were published: a host of its own, unless another stands in for all of it; a mirror upstream has its protocols alone. */
function documentsOf(hostname: Hostname, url: URL): URL | undefined {
  if (hostname !== openTofuHost || url.pathname !== "/") return undefined;
  return url.host === openTofuHost ? new URL(openTofuDocuments) : url;
}

/** The strictest default counts for an origin that is no longer served. */
export function signaturePolicyOf(
  origin: OriginConfiguration | undefined,
): SignaturePolicy {
  return {
    signatures: origin?.signatures ?? "required",
    profile: origin?.profile ?? "terraform",
  };
}
