import { hash } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import type { Configuration } from "../config/load.ts";
import {
  Authentication,
  type AuthenticationRules,
} from "../server/access/authentication.ts";
import type { Services } from "../server/app.ts";
import { OpenIdIssuer } from "../server/access/openid-issuer.ts";
import { ArchiveUrlKeys } from "../store/records/archive-url-keys.ts";
import type { RecordStore } from "../store/records/record-store.ts";
import type { Logger } from "../telemetry/logger.ts";
import { wireNamedHost } from "./clients.ts";
import type { DaemonTelemetry } from "./telemetry.ts";

/** Milliseconds between two reads of the keys, half of the time that a new one waits before it signs. */
const keyRenewal = 30_000;

/** Authentication by the current configuration, or by a later one after `replace`. */
export async function wireAuthentication(
  configuration: Configuration,
  records: RecordStore,
  { logger, metrics }: DaemonTelemetry,
  operatorToken: string,
) {
  let { tokens } = configuration.auth;
  const { archiveUrls } = configuration.limits;
  metrics.watch(metrics.tokenExpiry, () => nextExpiry(tokens));
  const keys = await wireKeys(records, logger, archiveUrls);
  let openId = wireOpenId(configuration, logger);
  const authentication = new Authentication(rulesOf(configuration, openId), {
    ...{ keys: keys.keys, archiveUrls },
    operator: hash("sha256", operatorToken, "buffer"),
    now: () => Date.now(),
  });
  warnOfClearText(configuration, authentication, logger);
  return {
    authentication,
    addLogin: (services: Services) => openId.addLogin(services),
    replace: (next: Configuration) => {
      ({ tokens } = next.auth);
      const before = openId;
      if (!before.isOf(next)) openId = wireOpenId(next, logger);
      const isOn = () => authentication.isOn;
      const wasOn = isOn();
      authentication.replaceRules(rulesOf(next, openId));
      if (wasOn && !isOn())
        logger.warn("authentication is off now: anybody may ask");
      if (before !== openId) void before.close();
      warnOfClearText(next, authentication, logger);
    },
    close: async () => {
      keys.close();
      await openId.close();
    },
  };
}

/**
 * Returns the next expiry of valid tokens in seconds since 1970; undefined when
 * none of them expires.
 */
function nextExpiry(
  tokens: Configuration["auth"]["tokens"],
): number | undefined {
  const ends = tokens
    .flatMap(({ expires }) => expires ?? [])
    .filter((expires) => expires > Date.now());
  return ends.length === 0 ? undefined : Math.min(...ends) / 1000;
}

async function wireKeys(records: RecordStore, logger: Logger, life: number) {
  const keys = await ArchiveUrlKeys.open(records, new Date(), life);
  const renew = () =>
    keys
      .renew(new Date(), life)
      .catch((error: unknown) =>
        logger.error(
          { err: error },
          "the keys of archive URLs stay as they are",
        ),
      );
  const renewal = setInterval(() => void renew(), keyRenewal).unref();
  return { keys, close: () => clearInterval(renewal) };
}

function rulesOf(
  { auth }: Configuration,
  openId: ReturnType<typeof wireOpenId>,
): AuthenticationRules {
  const tokens = Map.groupBy(auth.tokens, ({ sha256 }) => sha256);
  return { tokens, issuers: openId.issuers };
}

function warnOfClearText(
  { listen }: Configuration,
  authentication: Authentication,
  logger: Logger,
): void {
  if (authentication.isOn && listen.tls.kind === "off")
    logger.warn(
      "listen.tls is off: tokens can be read on the way unless a proxy in front adds TLS",
    );
}

/** The OpenID issuers of one configuration. */
function wireOpenId(configuration: Configuration, logger: Logger) {
  const { limits, freshness, auth } = configuration;
  const wired = auth.oidc.map((oidc) => {
    const http = wireNamedHost(configuration, oidc.issuer, { ca: oidc.ca });
    const { answer: deadline } = limits;
    const { staleFor } = freshness;
    const issuer = new OpenIdIssuer(http, { ...oidc, deadline, staleFor });
    return { ...oidc, http, issuer };
  });
  const login = wired.find(({ clientId }) => clientId !== undefined);
  return {
    issuers: wired.map(({ issuer }) => issuer),
    addLogin: async (services: Services): Promise<Services> => {
      if (login?.clientId === undefined) return services;
      const { issuer, clientId } = login;
      try {
        const login = await issuer.describeLogin(clientId);
        return { ...services, "login.v1": login };
      } catch (error) {
        // Clients need the others.
        logger.warn(
          { error: (error as Error).message },
          "login.v1 is left out while the OpenID issuer cannot be asked",
        );
        return services;
      }
    },
    /** True when another configuration has the same issuers, so that what is known of them stays. */
    isOf: ({ auth: other }: Configuration) =>
      isDeepStrictEqual(other.oidc, auth.oidc),
    close: async () => {
      await Promise.all(wired.map(({ http }) => http.close()));
    },
  };
}
