import type { OpenIdIssuer } from "../access/openid-issuer.ts";

/**
 * Services that this host offers to clients (Remote Service Discovery): URLs,
 * or a service's own object.
 */
export type Services = Readonly<Record<string, unknown>>;

/** `http://localhost:PORT/login` with one of these ports has to be allowed by the provider (the last one is not used). */
const callbackPorts = [10_000, 10_010] as const;

/**
 * Adds `login.v1` (Server-side Login Protocol, "Service Discovery") to the services: clients speak with the provider
 * itself. Without an answer of the issuer it is left out, because clients need the others.
 */
export async function withLogin(
  services: Services,
  issuer: OpenIdIssuer,
  /** Identity of clients at the OpenID provider. */
  client: string,
  onFailure: (error: unknown) => void,
): Promise<Services> {
  try {
    const { authorization, token } = await issuer.findEndpoints();
    const login = {
      client,
      grant_types: ["authz_code"],
      authz: authorization.href,
      token: token.href,
      ports: callbackPorts,
      scopes: ["openid"],
    };
    return { ...services, "login.v1": login };
  } catch (error) {
    onFailure(error);
    return services;
  }
}
