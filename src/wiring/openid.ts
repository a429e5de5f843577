import { isDeepStrictEqual } from "node:util";
import { type Configuration } from "../config/load.ts";
import { OpenIdIssuer } from "../server/access/openid-issuer.ts";
import { withLogin } from "../server/protocols/login-service.ts";
import type { Services } from "../server/protocols/service-discovery.ts";
import type { Logger } from "../telemetry/logger.ts";
import { wireNamedHost } from "./clients.ts";

/** The OpenID issuers of one configuration. */
export interface WiredOpenId {
  readonly issuers: readonly OpenIdIssuer[];
  addLogin(services: Services): Promise<Services>;
  /** True when another configuration has the same issuers, so that what is known of them stays. */
  isOf(configuration: Configuration): boolean;
  close(): Promise<void>;
}

export function wireOpenId(
  configuration: Configuration,
  logger: Logger,
): WiredOpenId {
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
    addLogin: async (services) => {
      if (login?.clientId === undefined) return services;
      const { issuer, clientId, scopes } = login;
      return withLogin(services, issuer, { clientId, scopes }, onFailure);
    },
    isOf: ({ auth: other }) => isDeepStrictEqual(other.oidc, auth.oidc),
    close: async () => {
      await Promise.all(wired.map(({ http }) => http.close()));
    },
  };
}
