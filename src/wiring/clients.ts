import {
  type Configuration,
  type OriginConfiguration,
} from "../config/load.ts";
import { parseHostname, type Hostname } from "../address/hostname.ts";
import type { Clock } from "../mirror/cache/clock.ts";
import { hostAndPort } from "../origin/guard/address-guard.ts";
import {
  originLimits,
  type OriginSettings,
} from "../origin/guard/origin-settings.ts";
import {
  HttpClient,
  type HttpClientEvents,
} from "../origin/http/http-client.ts";
import { OriginHealth } from "../origin/http/origin-health.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import type { Telemetry } from "./telemetry.ts";

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
        metrics?.originSuspended.set(health.suspended);
        logger.warn(suspension, "origin host suspended");
      },
      onResumed: (host) => {
        metrics?.originSuspended.set(health.suspended);
        logger.info({ host }, "origin host resumed");
      },
    },
    longest,
  );
  return health;
}

function watchOrigin(origin: Hostname, metrics: Metrics): HttpClientEvents {
  metrics.expectOrigin(origin);
  return {
    onAsked: (result, ms) => metrics.countOriginRequest(origin, result, ms),
    onReceived: (bytes) => metrics.originBytes.inc({ origin }, bytes),
  };
}

/** Each origin is asked with its token; `makeStranger` is for places that its answers name elsewhere, which never get it. */
export function wireClients(
  configuration: Configuration,
  telemetry: Telemetry,
  clock: Clock,
) {
  const { origins, proxy } = configuration;
  const limits = originLimits(configuration.limits);
  const { metrics } = telemetry;
  const health = wireHealth(configuration, telemetry, clock);
  const made: HttpClient[] = [];
  const make = (origin: OriginConfiguration, token: string | undefined) => {
    const events = metrics && watchOrigin(origin.hostname, metrics);
    const settings = settingsOf(origin, token, proxy);
    const client = new HttpClient(settings, limits, health, events);
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
    // The token is for the host that is asked first, and for no other.
    url: origin.url,
    token,
    configured: listConfiguredHosts(origin),
    proxy,
  };
}

/** A hostname with a port is an address that the operator wrote, as a `url` is. */
function listConfiguredHosts({
  hostname,
  url,
  urlConfigured,
}: OriginConfiguration): ReadonlySet<string> {
  const written = urlConfigured || hostname.includes(":") ? [url] : [];
  return new Set(written.map(hostAndPort));
}

/** A client of a host that the operator named, which is no origin; `ca` is PEM. */
export function wireNamedHost(
  { proxy, limits }: Pick<Configuration, "proxy" | "limits">,
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
      configured: new Set([hostAndPort(url)]),
      allowPrivateAddresses: false,
      ca,
      token,
      proxy,
    },
    originLimits(limits),
  );
}
