import {
  type Configuration,
  type OriginConfiguration,
} from "../config/load.ts";
import type { Hostname } from "../address/hostname.ts";
import type { Clock } from "../mirror/cache/clock.ts";
import { type ReleaseOrigin } from "../mirror/releases/release-origin.ts";
import {
  type SignatureJudge,
  type SignaturePolicy,
} from "../mirror/releases/verdict.ts";
import { originLimits } from "../origin/guard/origin-settings.ts";
import type { HttpClient } from "../origin/http/http-client.ts";
import { OriginFolder } from "../origin/folder/origin-folder.ts";
import { FolderProviders } from "../origin/folder/folder-providers.ts";
import { type ProviderOrigin } from "../origin/registries/provider-origin.ts";
import { ProviderRegistry } from "../origin/registries/provider-registry.ts";
import { ServiceDiscovery } from "../origin/registries/service-discovery.ts";
import type { Logger } from "../telemetry/logger.ts";

interface OriginParts {
  readonly clock: Clock;
  readonly judge: SignatureJudge;
  readonly logger: Logger;
}

export function wireOrigins(
  configuration: Configuration,
  clients: ReadonlyMap<Hostname, HttpClient>,
  parts: OriginParts,
): ReadonlyMap<Hostname, ReleaseOrigin> {
  return new Map(
    [...clients].flatMap(([hostname, client]) => {
      const origin = configuration.origins.get(hostname);
      if (origin === undefined) return [];
      const wired: ReleaseOrigin = {
        registry: wireRegistry(origin, client, configuration, parts),
        policy: signaturePolicyOf(origin),
        freshFor: freshnessOf(origin),
        judge: parts.judge,
        clock: parts.clock,
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

function wireFolder(
  { hostname, signatures }: OriginConfiguration,
  directory: string,
  { limits }: Configuration,
  { logger }: OriginParts,
): ProviderOrigin {
  const reported = new Map<string, string>();
  return new FolderProviders({
    folder: new OriginFolder(directory, hostname),
    limits: originLimits(limits),
    signed: signatures === "required",
    onUnfit: (folder, reason) => {
      if (reported.get(folder) === reason) return;
      if (reported.size >= mostReported) reported.clear();
      reported.set(folder, reason);
      logger.warn({ folder, reason }, "a folder is not taken for a release");
    },
  });
}

/** Folders whose report is remembered. */
const mostReported = 10_000;

function wireRegistry(
  origin: OriginConfiguration,
  client: HttpClient,
  configuration: Configuration,
  parts: OriginParts,
): ProviderOrigin {
  const { directory, url } = origin;
  if (directory !== undefined)
    return wireFolder(origin, directory, configuration, parts);
  const { versions } = configuration.freshness;
  const now = () => parts.clock.monotonic();
  const discovery = new ServiceDiscovery(client, url, versions, now);
  const limits = originLimits(configuration.limits);
  return new ProviderRegistry(client, discovery, limits);
}

/** The strictest default counts for an origin that is no longer served. */
export function signaturePolicyOf(
  origin: OriginConfiguration | undefined,
): SignaturePolicy {
  return {
    signatures: origin?.signatures ?? "required",
    profile: origin?.verification ?? "terraform",
  };
}
