import {
  type Configuration,
  type OriginConfiguration,
} from "../config/load.ts";
import type { Clock } from "../mirror/cache/clock.ts";
import { hostAndPort } from "../origin/guard/address-guard.ts";
import {
  originLimits,
  type OriginSettings,
} from "../origin/guard/origin-settings.ts";
import { HttpClient } from "../origin/http/http-client.ts";
import { OriginHealth } from "../origin/http/origin-health.ts";
import type { Telemetry } from "./telemetry.ts";

/** Makes the clients of origins, which share what is known of the health of hosts. */
export function wireClients(
  configuration: Configuration,
  { logger, metrics }: Telemetry,
  clock: Clock,
) {
  const { freshness, proxy } = configuration;
  // Every origin is probed at least once in the time for which lists are fresh.
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
  const limits = originLimits(configuration.limits);
  const made: HttpClient[] = [];
  const make = (origin: OriginConfiguration, token: string | undefined) => {
    const client = new HttpClient(
      settingsOf(origin, token, proxy),
      limits,
      health,
      metrics?.ofOrigin(origin.hostname),
    );
    made.push(client);
    return client;
  };
  const close = async () => {
    await Promise.all(made.map((client) => client.close()));
  };
  return { make, close };
}

/** The token is for the host that is asked first, and for no other. */
export function settingsOf(
  origin: OriginConfiguration,
  token: string | undefined,
  proxy: Configuration["proxy"],
): OriginSettings {
  const { hostname, url, urlConfigured } = origin;
  // A hostname with a port is an address that the operator wrote, as a `url` is.
  const isWritten = urlConfigured || hostname.includes(":");
  const configured = new Set(isWritten ? [hostAndPort(url)] : []);
  return { ...origin, token, configured, proxy };
}

/** A client of a host that the operator named, which is no origin; `ca` is PEM, and `token` is sent there and nowhere else. */
export function wireNamedHost(
  { proxy, limits }: Pick<Configuration, "proxy" | "limits">,
  url: URL,
  ca: string | undefined,
  token?: string,
): HttpClient {
  return new HttpClient(
    {
      ...{ url, ca, token, proxy },
      configured: new Set([hostAndPort(url)]),
      allowPrivateAddresses: false,
    },
    originLimits(limits),
  );
}
