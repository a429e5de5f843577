import {
  createRemoteJWKSet,
  customFetch,
  decodeJwt,
  errors,
  jwtVerify,
} from "jose";
import * as z from "zod";
import { isMatchingText } from "../../address/policy-pattern.ts";
import { failure, ProvenderError } from "../../errors/index.ts";
import type { HttpClient } from "../../origin/http/http-client.ts";
import { unusable } from "../../origin/http/http-failure.ts";

interface OpenIdSettings {
  /** The issuer's identifier; with or without a slash at its end. */
  readonly issuer: URL;
  readonly audience: string;
  readonly claims: ClaimRules;
  /** Milliseconds for one answer in all. */
  readonly deadline: number;
  /** Milliseconds for which its keys are used while it is failing. */
  readonly staleFor: number;
}

/** Milliseconds for which keys are used before the issuer is asked again. */
const freshFor = 10 * 60_000;
/** Milliseconds between requests for a key that is not known. */
const cooldown = 15_000;
/** Milliseconds before an issuer that failed is asked again. */
const spared = 5_000;
/** Bytes. */
const longestDocument = 256 * 1024;
/** Seconds for which an issuer's clock may be ahead; a token is never taken after it expired. */
const clockTolerance = 60;

/** Only public keys verify these (RFC 8725, 3.1 and 2.1): `none`, and HS256 with a public key as its secret, never do. */
const algorithms =
  "RS256 RS384 RS512 PS256 PS384 PS512 ES256 ES384 ES512 EdDSA Ed25519".split(
    " ",
  );

/** RFC 9068, 2.1, and what issuers without it write; other types of tokens are for other uses (RFC 8725, 3.11). */
const accessToken = /^(?:(?:application\/)?at\+)?jwt$/i;

const httpsEndpoint = z
  .url({ protocol: /^https$/ })
  .transform((text) => new URL(text));

/** OpenID Connect Discovery 1.0, 3. */
const metadata = z.object({
  issuer: z.string(),
  authorization_endpoint: httpsEndpoint,
  token_endpoint: httpsEndpoint,
  jwks_uri: httpsEndpoint,
});

/** RFC 7517, 5. */
const keySet = z.object({
  keys: z.array(z.looseObject({ kty: z.string() })).max(100),
});

/** `http://localhost:PORT/login` with one of these ports has to be allowed by the issuer (the last one is not used). */
const callbackPorts = [10_000, 10_010];

interface Known {
  readonly metadata: z.infer<typeof metadata>;
  readonly keySet: z.infer<typeof keySet>;
  readonly at: number;
}

/** An OpenID issuer: its endpoints, and who the holders of its access tokens are. */
export class OpenIdIssuer {
  /** As tokens name it, without the slash that makes no difference. */
  readonly name: string;
  readonly #http: HttpClient;
  readonly #settings: OpenIdSettings;
  readonly #keys: ReturnType<typeof createRemoteJWKSet>;
  #known: Known | undefined;
  /** The last request's. */
  #failure: { readonly error: Error; readonly at: number } | undefined;

  constructor(http: HttpClient, settings: OpenIdSettings) {
    this.name = withoutSlash(settings.issuer.href);
    this.#http = http;
    this.#settings = settings;
    // jose decides when keys are asked for. Where they are stands in the metadata, which is asked for with them.
    this.#keys = createRemoteJWKSet(settings.issuer, {
      cacheMaxAge: freshFor,
      cooldownDuration: cooldown,
      timeoutDuration: settings.deadline,
      [customFetch]: (_, { signal }) => this.#ask(signal),
    });
  }

  /**
   * `login.v1` (Server-side Login Protocol, "Service Discovery"), for clients that speak with the issuer themselves; `client`
   * is their identity there.
   */
  async describeLogin(client: string): Promise<object> {
    if (!this.#keys.fresh) await this.#keys.reload();
    const { authorization_endpoint: authz, token_endpoint: token } =
      this.#findKnown().metadata;
    return {
      client,
      grant_types: ["authz_code"],
      authz: authz.href,
      token: token.href,
      ports: callbackPorts,
      scopes: ["openid"],
    };
  }

  /** Returns `oidc:SUBJECT@ISSUER`. */
  async verify(token: string): Promise<string> {
    const { payload, protectedHeader } = await jwtVerify(token, this.#keys, {
      algorithms,
      clockTolerance,
      issuer: [this.name, `${this.name}/`],
      audience: this.#settings.audience,
    }).catch((cause: unknown) => {
      if (cause instanceof ProvenderError) throw cause;
      // The key may be one that the issuer has published since it fails.
      if (cause instanceof errors.JWKSNoMatchingKey && this.#failure)
        throw this.#failure.error;
      throw failure("token-refused", explain(cause), { cause });
    });
    if (!accessToken.test(protectedHeader.typ ?? "jwt"))
      throw failure("token-refused", "it is no access token");
    // RFC 9068, 4: it has an end, which the tolerance for clocks does not prolong.
    if ((payload.exp ?? 0) * 1000 <= Date.now())
      throw failure("token-refused", "it has expired");
    const refused = findRefusedClaim(payload, this.#settings.claims);
    if (refused !== undefined)
      throw failure(
        "token-refused",
        `its claim ${JSON.stringify(refused)} has no value that this mirror takes`,
      );
    const subject = [payload.sub, payload.client_id, payload.azp].find(isName);
    if (subject === undefined)
      throw failure("token-refused", "it has no subject");
    const { host, pathname } = this.#settings.issuer;
    return `oidc:${subject}@${withoutSlash(host + pathname)}`;
  }

  async #ask(signal: AbortSignal): Promise<Response> {
    if (this.#failure === undefined || Date.now() >= this.#failure.at + spared)
      try {
        this.#known = await this.#fetch(signal);
        this.#failure = undefined;
      } catch (error) {
        this.#failure = { error: error as Error, at: Date.now() };
      }
    return Response.json(this.#findKnown().keySet);
  }

  /** What it said last; while it fails, for `staleFor`. */
  #findKnown(): Known {
    const [known, failed] = [this.#known, this.#failure];
    const isOld = Date.now() >= (known?.at ?? 0) + this.#settings.staleFor;
    if (known === undefined || (failed && isOld))
      throw failed?.error ?? new Error("no issuer was asked");
    return known;
  }

  async #fetch(signal: AbortSignal): Promise<Known> {
    const { issuer } = this.#settings;
    const path = `${withoutSlash(issuer.pathname)}/.well-known/openid-configuration`;
    const found = await this.#read(new URL(path, issuer), metadata, signal);
    // A different issuer could speak for this one (Discovery 1.0, 4.3).
    if (withoutSlash(found.issuer) !== this.name)
      throw unusable(
        issuer,
        `it calls itself ${JSON.stringify(found.issuer.slice(0, 200))}: set "auth.oidc.issuer" to the name that it has`,
      );
    return {
      metadata: found,
      keySet: await this.#read(found.jwks_uri, keySet, signal),
      at: Date.now(),
    };
  }

  /** Key sets have a media type of their own (RFC 7517, 8.5), so none is asked for. */
  async #read<T>(
    url: URL,
    shape: z.ZodType<T>,
    signal: AbortSignal,
  ): Promise<T> {
    const answer = await this.#http.fetchDocument(url, longestDocument, signal);
    try {
      return shape.parse(JSON.parse(new TextDecoder().decode(answer.bytes)));
    } catch (error) {
      const reason = "it is not what OpenID Connect describes";
      throw unusable(answer.url, reason, { cause: error });
    }
  }
}

/** The issuer that a token names; nothing is verified yet. */
export function findIssuer(
  issuers: readonly OpenIdIssuer[],
  token: string,
): OpenIdIssuer {
  let issuer: string;
  try {
    issuer = withoutSlash(String(decodeJwt(token).iss));
  } catch {
    throw failure("token-refused", "it is not one that this mirror knows");
  }
  const named = issuers.find(({ name }) => name === issuer);
  if (named === undefined) throw failure("token-refused", reasons.iss);
  return named;
}

/** By the claim that is wrong, else by the code of jose. */
const reasons = {
  iss: "it is from another issuer",
  aud: "it is for another audience",
  exp: "it has expired",
  nbf: "it is not valid yet",
  ERR_JWT_CLAIM_VALIDATION_FAILED: "it cannot be read",
  ERR_JOSE_ALG_NOT_ALLOWED: "its algorithm is none with a public key",
  ERR_JWKS_NO_MATCHING_KEY: "its issuer has no such key",
  ERR_JWKS_MULTIPLE_MATCHING_KEYS:
    "it does not name its key, and its issuer has several",
  ERR_JWS_INVALID: "it cannot be read",
  ERR_JWT_INVALID: "it cannot be read",
};

function explain(error: unknown): string {
  const { claim, code } = error as { claim?: string; code?: string };
  const words = new Map<unknown, string>(Object.entries(reasons));
  return (
    words.get(claim) ??
    words.get(code) ??
    "its signature is not that of its issuer"
  );
}

function withoutSlash(text: string): string {
  return text.replace(/\/$/, "");
}

function isName(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}

/** Patterns by claim; a token has to have every claim, with a value that one of its patterns matches. */
type ClaimRules = ReadonlyMap<string, readonly string[]>;

export function findRefusedClaim(
  claims: Readonly<Record<string, unknown>>,
  rules: ClaimRules,
): string | undefined {
  for (const [name, patterns] of rules) {
    const value = Object.hasOwn(claims, name) ? claims[name] : undefined;
    // A claim with several values holds by any of them; `*` stands for any characters, none and `/` included.
    const holds = [value]
      .flat()
      .filter((one) => ["string", "number", "boolean"].includes(typeof one))
      .some((one) =>
        patterns.some((text) => isMatchingText(text.split("*"), String(one))),
      );
    if (!holds) return name;
  }
  return undefined;
}
