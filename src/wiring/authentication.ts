import { isDeepStrictEqual } from "node:util";
import type { Configuration } from "../config/load.ts";
import { Authentication } from "../server/access/authentication.ts";
import type { Services } from "../server/app.ts";
import { OpenIdIssuer } from "../server/access/openid-issuer.ts";
import { openArchiveUrlKey } from "../store/records/archive-url-key.ts";
import type { RecordStore } from "../store/records/record-store.ts";
import type { Logger } from "../telemetry/logger.ts";
import { wireNamedHost } from "./clients.ts";
import type { DaemonTelemetry } from "./telemetry.ts";

/** Authentication by the current configuration, or by a later one after `replace`; `operator` is the hash of a token of this machine. */
export async function wireAuthentication(
  configuration: Configuration,
  records: RecordStore,
  { logger, metrics }: DaemonTelemetry,
  operator: Buffer,
) {
  let { tokens } = configuration.auth;
  // The next expiry of valid tokens in seconds since 1970.
  metrics.watch(metrics.tokenExpiry, () => {
    const ends = tokens
      .flatMap(({ expires }) => expires ?? [])
      .filter((expires) => expires > Date.now());
    return ends.length === 0 ? undefined : Math.min(...ends) / 1000;
  });
  const { archiveUrls } = configuration.limits;
  const secret = await openArchiveUrlKey(records);
  let openId = wireOpenId(configuration, logger);
  const rulesOf = ({ auth }: Configuration) => ({
    tokens: Map.groupBy(auth.tokens, ({ sha256 }) => sha256),
    issuers: openId.issuers,
  });
  const authentication = new Authentication(rulesOf(configuration), {
    ...{ secret, archiveUrls, operator },
  });
  const warnOfClearText = ({ listen }: Configuration) => {
    if (authentication.isOn && listen.tls.kind === "off")
      logger.warn(
        "listen.tls is off: tokens can be read on the way unless a proxy in front adds TLS",
      );
  };
  warnOfClearText(configuration);
  return {
    authentication,
    addLogin: (services: Services) => openId.addLogin(services),
    replace: (next: Configuration) => {
      ({ tokens } = next.auth);
      const [before, wasOn] = [openId, authentication.isOn];
      // What is known of the same issuers stays.
      if (!isDeepStrictEqual(before.configured, next.auth.oidc)) {
        openId = wireOpenId(next, logger);
        void before.close();
      }
      authentication.replaceRules(rulesOf(next));
      if (wasOn && !authentication.isOn)
        logger.warn("authentication is off now: anybody may ask");
      warnOfClearText(next);
    },
    close: () => openId.close(),
  };
}

/** The OpenID issuers of one configuration. */
function wireOpenId(configuration: Configuration, logger: Logger) {
  const { limits, freshness, auth } = configuration;
  const wired = auth.oidc.map((oidc) => {
    const http = wireNamedHost(configuration, oidc.issuer, oidc.ca);
    const within = { deadline: limits.answer, staleFor: freshness.staleFor };
    const issuer = new OpenIdIssuer(http, { ...oidc, ...within });
    return { clientId: oidc.clientId, http, issuer };
  });
  const login = wired.find(({ clientId }) => clientId !== undefined);
  return {
    configured: auth.oidc,
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
    close: async () => {
      await Promise.all(wired.map(({ http }) => http.close()));
    },
  };
}
