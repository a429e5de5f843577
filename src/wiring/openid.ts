import { isDeepStrictEqual } from "node:util";
import type { OidcConfiguration } from "../config/configuration.ts";
import { type Configuration } from "../config/load.ts";
import { systemClock } from "../mirror/cache/clock.ts";
import { OpenIdProvider } from "../origin/registries/openid-provider.ts";
import { AccessTokens, IssuerTokens } from "../server/access/access-tokens.ts";
import { withLogin } from "../server/protocols/login-service.ts";
import type { Services } from "../server/protocols/service-discovery.ts";
import type { Logger } from "../telemetry/logger.ts";
import { wireNamedHost } from "./clients.ts";

/** The OpenID issuers of one configuration. */
export interface WiredOpenId {
  readonly accessTokens: IssuerTokens;
  addLogin(services: Services): Promise<Services>;
  /** True when another configuration has the same issuers, so that what is known of them stays. */
  isOf(configuration: Configuration): boolean;
  close(): Promise<void>;
}

export function wireOpenId(
  configuration: Configuration,
  logger: Logger,
): WiredOpenId | undefined {
  const { oidc } = configuration.auth;
  if (oidc.length === 0) return undefined;
  const issuers = oidc.map((one) => wireIssuer(configuration, one));
  const onFailure = (error: unknown) =>
    logger.warn(
      { error: (error as Error).message },
      "login.v1 is left out while the OpenID provider cannot be asked",
    );
  const login = issuers.find(({ clientId }) => clientId !== undefined);
  return {
    accessTokens: new IssuerTokens(
      issuers.map(({ issuer, tokens }) => [issuer, tokens] as const),
    ),
    addLogin: async (services) => {
      if (login?.clientId === undefined) return services;
      const { provider, clientId, scopes } = login;
      return withLogin(services, provider, { clientId, scopes }, onFailure);
    },
    isOf: ({ auth: other }) => isDeepStrictEqual(other.oidc, oidc),
    close: async () => {
      await Promise.all(issuers.map(({ http }) => http.close()));
    },
  };
}

function wireIssuer(configuration: Configuration, oidc: OidcConfiguration) {
  const { limits, freshness } = configuration;
  const { issuer, ca } = oidc;
  const http = wireNamedHost(configuration, issuer, { ca });
  const provider = new OpenIdProvider(http, {
    issuer,
    deadline: limits.answer,
    staleFor: freshness.staleFor,
    now: () => systemClock.monotonic(),
  });
  return { ...oidc, http, provider, tokens: new AccessTokens(provider, oidc) };
}
