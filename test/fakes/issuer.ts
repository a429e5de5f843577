import {
  exportJWK,
  exportSPKI,
  generateKeyPair,
  SignJWT,
  type JWTHeaderParameters,
  type JWTPayload,
} from "jose";
import { hash } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import type { Authority } from "./authority.ts";
import { startListener } from "./listener.ts";

interface TokenOptions {
  readonly claims?: JWTPayload;
  readonly header?: Partial<JWTHeaderParameters>;
  readonly key?: IssuerKey;
}

export type IssuerKey = Awaited<ReturnType<typeof createIssuerKey>>;

/** A key pair of an issuer; published or not. */
export async function createIssuerKey(kid: string, alg = "ES256") {
  const { privateKey, publicKey } = await generateKeyPair(alg, {
    extractable: true,
  });
  const publicJwk = { ...(await exportJWK(publicKey)), kid, alg };
  const publicPem = await exportSPKI(publicKey);
  return { kid, alg, privateKey, publicJwk, publicPem };
}

export type Issuer = Awaited<ReturnType<typeof startIssuer>>;

/** An OpenID provider over HTTPS: its documents, the tokens that it signs, and a login that asks nobody anything. */
export async function startIssuer(authority: Authority) {
  const certificate = await authority.issue(["127.0.0.1"]);
  const { port, stop, restart } = await startListener(
    certificate,
    (...asked) => void answer(...asked),
  );
  const url = `https://127.0.0.1:${port}/realm`;
  const issuer = {
    ...{ url, stop, restart },
    /** Published keys; may be changed. */
    keys: [await createIssuerKey("first")],
    /** Members that replace those of the discovery document; may be changed. */
    overrides: {} as Readonly<Record<string, unknown>>,
    /** Paths, in the order of arrival. */
    requests: [] as string[],
    /** A good access token for the audience "provender", apart from what is asked to be otherwise. */
    sign: (options: TokenOptions = {}): Promise<string> => {
      const key = options.key ?? issuer.keys[0];
      if (key === undefined) throw new Error("no key");
      const now = Math.floor(Date.now() / 1000);
      const claims = {
        ...{ iss: url, aud: "provender", sub: "someone" },
        ...{ exp: now + 300, iat: now },
        ...options.claims,
      };
      const { alg, kid } = key;
      return new SignJWT(claims)
        .setProtectedHeader({ alg, kid, typ: "at+jwt", ...options.header })
        .sign(key.privateKey);
    },
  };

  async function answer(req: IncomingMessage, res: ServerResponse) {
    const { pathname, searchParams } = new URL(req.url ?? "", url);
    issuer.requests.push(req.url ?? "");
    if (pathname === "/realm/authorize") {
      // The code is the challenge (RFC 7636), so that nothing has to be kept.
      const location = new URL(searchParams.get("redirect_uri") ?? "");
      const code = searchParams.get("code_challenge") ?? "";
      const state = searchParams.get("state") ?? "";
      location.search = String(new URLSearchParams({ code, state }));
      res.writeHead(302, { location: location.href }).end();
      return;
    }
    const document = await find(pathname, req);
    const headers = { "content-type": "application/json" };
    res.writeHead(document === undefined ? 404 : 200, headers);
    res.end(JSON.stringify(document ?? {}));
  }

  async function find(path: string, req: IncomingMessage): Promise<unknown> {
    switch (path) {
      case "/realm/token": {
        const form = new URLSearchParams(await text(req));
        const verifier = form.get("code_verifier") ?? "";
        if (hash("sha256", verifier, "base64url") !== form.get("code")) return;
        return { access_token: await issuer.sign(), token_type: "Bearer" };
      }
      case "/realm/keys":
        return { keys: issuer.keys.map(({ publicJwk }) => publicJwk) };
      case "/realm/.well-known/openid-configuration":
        return {
          issuer: url,
          authorization_endpoint: `${url}/authorize`,
          token_endpoint: `${url}/token`,
          jwks_uri: `${url}/keys`,
          ...issuer.overrides,
        };
    }
    return undefined;
  }

  return issuer;
}
