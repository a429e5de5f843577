import {
  type Configuration,
  type OriginConfiguration,
} from "../config/load.ts";
import { parseHostname, type Hostname } from "../address/hostname.ts";
import type { Clock } from "../mirror/cache/clock.ts";
import type { LearntDigests } from "../mirror/releases/learnt-digests.ts";
import { type ReleaseOrigin } from "../mirror/releases/fetch.ts";
import {
  type SignatureJudge,
  type SignaturePolicy,
} from "../mirror/releases/verdict.ts";
import { hostAndPort } from "../origin/guard/address-guard.ts";
import {
  HttpClient,
  type HttpClientEvents,
} from "../origin/http/http-client.ts";
import { LargeDocuments } from "../origin/http/large-documents.ts";
import { FolderProviders } from "../origin/folder/folder-providers.ts";
import { OriginFolder } from "../origin/folder/origin-folder.ts";
import { NetworkMirror } from "../origin/registries/network-mirror.ts";
import { OriginHealth } from "../origin/health/origin-health.ts";
import { type ProviderOrigin } from "../origin/registries/provider-origin.ts";
import type { OriginSettings } from "../origin/guard/origin-settings.ts";
import { ProviderRegistry } from "../origin/registries/provider-registry.ts";
import { ServiceDiscovery } from "../origin/registries/service-discovery.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import type { Logger } from "../telemetry/logger.ts";
import type { Telemetry } from "./telemetry.ts";

export function wireOrigins(
  configuration: Configuration,
  clients: ReadonlyMap<Hostname, HttpClient>,
  judge: SignatureJudge,
  knowing: {
    readonly clock: Clock;
    readonly learnt: LearntDigests;
    readonly logger: Logger;
  },
): ReadonlyMap<Hostname, ReleaseOrigin> {
  return new Map(
    [...clients].flatMap(([hostname, client]) => {
      const origin = configuration.origins.get(hostname);
      if (origin === undefined) return [];
      const registry =
        origin.directory === undefined
          ? wireProviders(origin, client, configuration, knowing)
          : wireFolder(origin, origin.directory, configuration, knowing.logger);
      const freshFor = freshnessOf(origin);
      const policy = signaturePolicyOf(origin);
      const { clock } = knowing;
      const { reportedHashes } = origin;
      const wired = { registry, policy, judge, clock, reportedHashes };
      return [[hostname, { ...wired, freshFor }]];
    }),
  );
}

/** Milliseconds for which lists of an origin are good; undefined for as long as those of a registry. A folder costs nobody anything. */
export function freshnessOf({
  directory,
}: OriginConfiguration): number | undefined {
  return directory === undefined ? undefined : 1_000;
}

function wireFolder(
  { hostname, signatures }: OriginConfiguration,
  directory: string,
  { limits }: Configuration,
  logger: Logger,
): ProviderOrigin {
  const told = new Map<string, string>();
  return new FolderProviders({
    folder: new OriginFolder(directory, hostname),
    limits,
    signed: signatures === "required",
    onUnfit: (folder, reason) => {
      if (told.get(folder) === reason) return;
      if (told.size >= mostTold) told.clear();
      told.set(folder, reason);
      logger.warn({ folder, reason }, "a folder is not taken for a release");
    },
  });
}

/** Folders that are remembered to have been told of. */
const mostTold = 10_000;

function wireProviders(
  { networkMirror, url }: OriginConfiguration,
  client: HttpClient,
  { limits, freshness }: Configuration,
  { clock, learnt }: { readonly clock: Clock; readonly learnt: LearntDigests },
): ProviderOrigin {
  if (networkMirror !== undefined)
    return new NetworkMirror(client, networkMirror, limits, (...named) =>
      learnt.find(...named),
    );
  const { versions } = freshness;
  const now = () => clock.monotonic();
  const discovery = new ServiceDiscovery(client, url, versions, now);
  return new ProviderRegistry(client, discovery, limits);
}

/** An origin that is served no more is held to the strictest default. */
export function signaturePolicyOf(
  origin: OriginConfiguration | undefined,
): SignaturePolicy {
  return {
    signatures: origin?.signatures ?? "required",
    profile: origin?.verification ?? "terraform",
  };
}

/** Every origin is probed at least once in the time for which lists are fresh. */
function wireHealth(
  { freshness }: Configuration,
  { logger, metrics }: Telemetry,
  clock: Clock,
): OriginHealth {
  const longest = Math.max(1_000, Math.min(30_000, freshness.versions));
  const health = new OriginHealth(
    () => clock.monotonic(),
    {
      onSuspended: (suspension) => {
        const isBusy = suspension.reason === "origin-busy";
        metrics.countSuspension(isBusy ? "busy" : "failing");
        metrics.showSuspended(health.suspended);
        logger.warn(suspension, "origin host suspended");
      },
      onResumed: (host, subject) => {
        metrics.showSuspended(health.suspended);
        logger.info({ host, subject }, "origin host resumed");
      },
    },
    longest,
  );
  return health;
}

function watchOrigin(origin: Hostname, metrics: Metrics): HttpClientEvents {
  metrics.expectOrigin(origin);
  return {
    onRetry: () => metrics.countRetry(origin),
    onResume: () => metrics.countResume(origin),
    onAsked: (result, ms) => metrics.countOriginRequest(origin, result, ms),
    onReceived: (bytes) => metrics.countOriginBytes(origin, bytes),
  };
}

/** Each origin is asked with its token; `makeStranger` is for places that its answers name elsewhere, which never get it. */
export interface OriginClients {
  readonly own: ReadonlyMap<Hostname, HttpClient>;
  readonly makeStranger: (origin: OriginConfiguration) => HttpClient;
  readonly health: OriginHealth;
  close(): Promise<void>;
}

export function wireClients(
  configuration: Configuration,
  telemetry: Telemetry,
  clock: Clock,
): OriginClients {
  const { origins, proxy, limits } = configuration;
  const { metrics } = telemetry;
  const health = wireHealth(configuration, telemetry, clock);
  const large = new LargeDocuments();
  const made: HttpClient[] = [];
  const make = (origin: OriginConfiguration, token: string | undefined) => {
    const events = watchOrigin(origin.hostname, metrics);
    const settings = settingsOf(origin, token, proxy);
    const client = new HttpClient(settings, limits, health, events, large);
    made.push(client);
    return client;
  };
  const own = [...origins].map(
    ([name, origin]) => [name, make(origin, origin.token?.secret)] as const,
  );
  const close = async () => {
    await Promise.all(made.map((client) => client.close()));
  };
  const makeStranger = (origin: OriginConfiguration) => make(origin, undefined);
  return { own: new Map(own), makeStranger, health, close };
}

export function settingsOf(
  origin: OriginConfiguration,
  token: string | undefined,
  proxy: Configuration["proxy"],
): OriginSettings {
  return {
    ...origin,
    // The token is for what is asked first, and for nobody else.
    url: origin.networkMirror ?? origin.url,
    token,
    configuredHosts: listConfiguredHosts(origin),
    proxy,
  };
}

/** A hostname with a port is an address that the operator wrote, as a `url` is. */
function listConfiguredHosts({
  hostname,
  url,
  urlConfigured,
  networkMirror,
}: OriginConfiguration): ReadonlySet<string> {
  const written = urlConfigured || hostname.includes(":") ? [url] : [];
  const mirrors = networkMirror === undefined ? [] : [networkMirror];
  return new Set([...written, ...mirrors].map(hostAndPort));
}

/** A client of a host that the operator named, which is no origin; `ca` is PEM. */
export function wireNamedHost(
  { proxy, limits }: Configuration,
  url: URL,
  {
    ca,
    token,
  }: {
    readonly ca: string | undefined;
    /** Sent to that host and nowhere else. */
    readonly token?: string | undefined;
  },
): HttpClient {
  return new HttpClient(
    {
      hostname: parseHostname("named"),
      url,
      configuredHosts: new Set([hostAndPort(url)]),
      allowPrivateAddresses: false,
      ca,
      token,
      proxy,
    },
    limits,
  );
}
