import type { Context } from "koa";
import type { OpenIdEndpoints, OpenIdIssuer } from "../access/openid-issuer.ts";

/**
 * Services that this host offers to clients (Remote Service Discovery): URLs,
 * or a service's own object.
 */
export type Services = Readonly<Record<string, unknown>>;

/** `/.well-known/terraform.json`; exactly application/json, because clients refuse anything else. */
export function answerDiscovery(ctx: Context, services: Services): void {
  ctx.status = 200;
  ctx.set("Cache-Control", "no-cache");
  ctx.body = JSON.stringify(services);
  ctx.res.setHeader("Content-Type", "application/json");
}

/** `http://localhost:PORT/login` with one of these ports has to be allowed by the provider (the last one is not used). */
const callbackPorts = [10_000, 10_010] as const;

/** `login.v1` (Server-side Login Protocol, "Service Discovery"): clients speak with the provider itself. */
function renderLogin(
  { authorization, token }: OpenIdEndpoints,
  client: string,
): object {
  return {
    client,
    grant_types: ["authz_code"],
    authz: authorization.href,
    token: token.href,
    ports: callbackPorts,
    scopes: ["openid"],
  };
}

/**
 * Adds `login.v1` to the services. Without an answer of the issuer it
 * is left out, because clients need the others.
 */
export async function withLogin(
  services: Services,
  issuer: OpenIdIssuer,
  /** Identity of clients at the OpenID provider. */
  client: string,
  onFailure: (error: unknown) => void,
): Promise<Services> {
  try {
    const found = await issuer.findEndpoints();
    return { ...services, "login.v1": renderLogin(found, client) };
  } catch (error) {
    onFailure(error);
    return services;
  }
}
