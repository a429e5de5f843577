import { hash } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import type { Configuration } from "../config/load.ts";
import {
  Authentication,
  type AuthenticationRules,
  indexTokens,
} from "../server/access/authentication.ts";
import { OpenIdIssuer } from "../server/access/openid-issuer.ts";
import {
  type Services,
  withLogin,
} from "../server/protocols/service-discovery.ts";
import { ArchiveUrlKeys } from "../store/archive-url-keys.ts";
import type { StoreLayout } from "../store/layout.ts";
import type { Logger } from "../telemetry/logger.ts";
import { wireNamedHost } from "./clients.ts";
import type { Replica } from "./store/replica.ts";
import type { DaemonTelemetry } from "./telemetry.ts";

/** Milliseconds between looks at the age of the keys. */
const keyRenewal = 60 * 60 * 1000;
/**
 * Milliseconds between reads of other replicas' keys, half of the time that a
 * new key waits before it signs.
 */
const sharedKeyRenewal = 30_000;

/** Authentication by the current configuration, or by a later one after `replace`. */
export async function wireAuthentication(
  configuration: Configuration,
  layout: StoreLayout,
  { logger, metrics }: DaemonTelemetry,
  operatorToken: string,
  replica?: Replica,
) {
  let { tokens } = configuration.auth;
  const { archiveUrls } = configuration.limits;
  metrics.watch({ tokenExpiry: () => nextExpiry(tokens) });
  const keys = await wireKeys(layout, logger, archiveUrls, replica);
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

async function wireKeys(
  layout: StoreLayout,
  logger: Logger,
  life: number,
  replica: Replica | undefined,
) {
  // Replicas use the bucket's time, as their own clocks may differ.
  const now = () =>
    new Date(Date.now() + (replica?.bucket.connection.skew ?? 0));
  const keys = await ArchiveUrlKeys.open(layout, now(), replica?.uncopied);
  const renew = () =>
    keys
      .renew(now(), life)
      .catch((error: unknown) =>
        logger.error(
          { err: error },
          "the keys of archive URLs stay as they are",
        ),
      );
  await renew();
  const interval = replica === undefined ? keyRenewal : sharedKeyRenewal;
  const renewal = setInterval(() => void renew(), interval).unref();
  return { keys, close: () => clearInterval(renewal) };
}

function rulesOf(
  { auth }: Configuration,
  openId: ReturnType<typeof wireOpenId>,
): AuthenticationRules {
  const tokens = auth.tokens.map(({ name, sha256, expires }) => ({
    name,
    sha256: Buffer.from(sha256, "hex"),
    expires,
  }));
  return { tokens: indexTokens(tokens), issuers: openId.issuers };
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
  const onFailure = (error: unknown) =>
    logger.warn(
      { error: (error as Error).message },
      "login.v1 is left out while the OpenID issuer cannot be asked",
    );
  const login = wired.find(({ clientId }) => clientId !== undefined);
  return {
    issuers: wired.map(({ issuer }) => issuer),
    addLogin: async (services: Services): Promise<Services> => {
      if (login?.clientId === undefined) return services;
      const { issuer, clientId } = login;
      return withLogin(services, issuer, clientId, onFailure);
    },
    /** True when another configuration has the same issuers, so that what is known of them stays. */
    isOf: ({ auth: other }: Configuration) =>
      isDeepStrictEqual(other.oidc, auth.oidc),
    close: async () => {
      await Promise.all(wired.map(({ http }) => http.close()));
    },
  };
}
