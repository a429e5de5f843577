import { LRUCache } from "lru-cache";
import {
  type Configuration,
  type OriginConfiguration,
} from "../config/load.ts";
import type { Hostname } from "../address/hostname.ts";
import type { Clock } from "../mirror/cache/clock.ts";
import type {
  ReleaseOrigin,
  SignatureJudge,
  SignaturePolicy,
} from "../mirror/releases/evidence.ts";
import { originLimits } from "../origin/guard/origin-settings.ts";
import type { HttpClient } from "../origin/http/http-client.ts";
import { OriginFolder } from "../origin/folder/origin-folder.ts";
import { FolderProviders } from "../origin/folder/folder-providers.ts";
import { type ProviderOrigin } from "../origin/registries/provider-origin.ts";
import { ProviderRegistry } from "../origin/registries/provider-registry.ts";
import { ServiceDiscovery } from "../origin/registries/service-discovery.ts";
import type { Logger } from "../telemetry/logger.ts";

export function wireOrigins(
  configuration: Configuration,
  clients: ReadonlyMap<Hostname, HttpClient>,
  { clock, judge }: { readonly clock: Clock; readonly judge: SignatureJudge },
  logger: Logger,
): ReadonlyMap<Hostname, ReleaseOrigin> {
  return new Map(
    [...clients].flatMap(([hostname, client]) => {
      const origin = configuration.origins.get(hostname);
      if (origin === undefined) return [];
      const wired: ReleaseOrigin = {
        registry: wireRegistry(origin, client, configuration, clock, logger),
        policy: signaturePolicyOf(origin),
        freshFor: freshnessOf(origin),
        ...{ judge, clock },
      };
      return [[hostname, wired]];
    }),
  );
}

/** Milliseconds for which lists of an origin are good; undefined for as long as those of a registry. A directory costs nothing. */
export function freshnessOf({
  directory,
}: OriginConfiguration): number | undefined {
  return directory === undefined ? undefined : 1_000;
}

/** Folders whose report is remembered. */
const mostReported = 10_000;

function wireRegistry(
  origin: OriginConfiguration,
  client: HttpClient,
  configuration: Configuration,
  clock: Clock,
  logger: Logger,
): ProviderOrigin {
  const { hostname, directory, signatures, url } = origin;
  const limits = originLimits(configuration.limits);
  if (directory === undefined) {
    const { versions } = configuration.freshness;
    const discovery = new ServiceDiscovery(client, url, versions, () =>
      clock.monotonic(),
    );
    return new ProviderRegistry(client, discovery, limits);
  }
  const reported = new LRUCache<string, string>({ max: mostReported });
  return new FolderProviders({
    folder: new OriginFolder(directory, hostname),
    limits,
    signed: signatures === "required",
    onUnfit: (folder, reason) => {
      if (reported.get(folder) === reason) return;
      reported.set(folder, reason);
      logger.warn({ folder, reason }, "a folder is not taken for a release");
    },
  });
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
