import { isDeepStrictEqual } from "node:util";
import { type Configuration } from "../config/load.ts";
import { systemClock } from "../mirror/cache/clock.ts";
import { OpenIdProvider } from "../origin/registries/openid-provider.ts";
import { AccessTokens } from "../server/access/access-tokens.ts";
import { withLogin } from "../server/protocols/login-service.ts";
import type { Services } from "../server/protocols/service-discovery.ts";
import type { Logger } from "../telemetry/logger.ts";
import { wireNamedHost } from "./clients.ts";

/** The OpenID provider of one configuration. */
export interface WiredOpenId {
  readonly accessTokens: AccessTokens;
  addLogin(services: Services): Promise<Services>;
  /** True when another configuration speaks of the same provider, so that what is known of it stays. */
  isOf(configuration: Configuration): boolean;
  close(): Promise<void>;
}

export function wireOpenId(
  configuration: Configuration,
  logger: Logger,
): WiredOpenId | undefined {
  const { auth, limits, freshness } = configuration;
  const { oidc } = auth;
  if (oidc === undefined) return undefined;
  const { issuer, ca } = oidc;
  const http = wireNamedHost(configuration, issuer, { ca });
  const provider = new OpenIdProvider(http, {
    issuer,
    deadline: limits.answer,
    staleFor: freshness.staleFor,
    now: () => systemClock.monotonic(),
  });
  const onFailure = (error: unknown) =>
    logger.warn(
      { error: (error as Error).message },
      "login.v1 is left out while the OpenID provider cannot be asked",
    );
  return {
    accessTokens: new AccessTokens(provider, oidc),
    addLogin: (services) => withLogin(services, provider, oidc, onFailure),
    isOf: ({ auth: other }) => isDeepStrictEqual(other.oidc, oidc),
    close: () => http.close(),
  };
}
