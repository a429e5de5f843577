import Provider, { type Configuration } from "oidc-provider";
import { exportJWK, generateKeyPair } from "jose";
import type { RequestListener } from "node:http";
import type { Authority } from "./authority.ts";
import { startListener, type Listener } from "./listener.ts";

/** A complete OpenID provider over HTTPS with one public client; anybody may log in under any name. */
export interface OpenIdServer {
  readonly issuer: string;
  readonly clientId: string;
  /** Audience of its access tokens. */
  readonly audience: string;
  stop(): Promise<void>;
}

const clientId = "terraform-cli";
const audience = "provender";

export async function startOpenIdServer(
  authority: Authority,
): Promise<OpenIdServer> {
  const certificate = await authority.issue(["127.0.0.1", "localhost"]);
  let handle: RequestListener = (_, res) => res.destroy();
  const where = { host: "127.0.0.1", port: 0 };
  const listener: Listener = await startListener(
    certificate,
    where,
    (...args) => handle(...args),
  );
  const issuer = `https://localhost:${listener.port}`;
  const answer = new Provider(issuer, await configure()).callback();
  handle = (req, res) => void answer(req, res);
  const stop = () => listener.stop();
  return { issuer, clientId, audience, stop };
}

async function configure(): Promise<Configuration> {
  const { privateKey } = await generateKeyPair("RS256", { extractable: true });
  const jwk = { ...(await exportJWK(privateKey)), kid: "one", use: "sig" };
  return {
    clients: [
      {
        client_id: clientId,
        application_type: "native",
        token_endpoint_auth_method: "none",
        grant_types: ["authorization_code"],
        response_types: ["code"],
        redirect_uris: ["http://localhost/login"],
      },
    ],
    jwks: { keys: [jwk] },
    cookies: { keys: ["for tests only"] },
    ttl: {
      AccessToken: 3600,
      AuthorizationCode: 60,
      Grant: 3600,
      IdToken: 3600,
      Interaction: 3600,
      Session: 3600,
    },
    pkce: { required: () => true },
    features: {
      devInteractions: { enabled: true },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => "https://mirror.example.com",
        useGrantedResource: () => true,
        getResourceServerInfo: () => ({
          scope: "",
          audience,
          accessTokenFormat: "jwt",
          jwt: { sign: { alg: "RS256" } },
        }),
      },
    },
  };
}
