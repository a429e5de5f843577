import { hash, randomBytes } from "node:crypto";
import {
  LoginRefused,
  OriginRejectsCredentials,
  OriginStatus,
  TokenRefused,
} from "../../errors/index.ts";
import type { OpenIdProvider } from "../../origin/registries/openid-provider.ts";
import { verifyIdToken } from "../../verification/access-token.ts";
import { nameOf, verifyWithKeys } from "./access-tokens.ts";
import { SealedCookie } from "./sealed-cookie.ts";

/** How the mirror introduces itself to the OpenID provider. */
interface LoginClient {
  readonly issuer: URL;
  readonly clientId: string;
}

interface SessionParts {
  /** Secrets that seal cookies; the first one is used. */
  readonly keys: { readonly secrets: readonly Buffer[] };
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/** What a browser is sent away with. */
export interface Departure {
  readonly location: string;
  /** Set-Cookie headers. */
  readonly cookies: readonly string[];
}

/** A login that was begun, which only the browser that began it can finish. */
interface Login {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
  /** Where it leads: a path of this mirror, as it was asked for. */
  readonly path: string;
  readonly expires: number;
}

interface Session {
  readonly name: string;
  readonly expires: number;
}

/** Milliseconds. */
const loginTime = 10 * 60_000;
const sessionTime = 8 * 60 * 60_000;

/**
 * Logins of people at an OpenID provider (OpenID Connect Core 1.0, 3.1, with the
 * PKCE of RFC 7636). Nothing is kept of them: browsers hold both cookies.
 */
export class Sessions {
  readonly #provider: Pick<OpenIdProvider, "find" | "findNewer" | "redeem">;
  readonly #client: LoginClient;
  readonly #now: () => number;
  readonly #logins: SealedCookie<Login>;
  readonly #sessions: SealedCookie<Session>;

  constructor(
    provider: Pick<OpenIdProvider, "find" | "findNewer" | "redeem">,
    client: LoginClient,
    { keys, now }: SessionParts,
  ) {
    this.#provider = provider;
    this.#client = client;
    this.#now = now;
    const purpose = `${client.issuer.href} ${client.clientId}`;
    this.#logins = new SealedCookie("login", purpose, keys);
    this.#sessions = new SealedCookie("session", purpose, keys);
  }

  /** Who has a session, from a Cookie header. */
  findName(cookies: string | undefined): string | undefined {
    return this.#sessions.find(cookies, this.#now())?.name;
  }

  /** To the provider, which sends the browser back to `redirectUri`. Throws the provider's failure. */
  async begin(redirectUri: string, path: string): Promise<Departure> {
    const { authorizationEndpoint } = await this.#provider.find();
    const location = new URL(authorizationEndpoint);
    const [state, nonce, verifier] = [random(), random(), random()];
    const parameters = {
      response_type: "code",
      client_id: this.#client.clientId,
      redirect_uri: redirectUri,
      scope: "openid",
      ...{ state, nonce },
      code_challenge: hash("sha256", verifier, "base64url"),
      code_challenge_method: "S256",
    };
    for (const [name, value] of Object.entries(parameters))
      location.searchParams.set(name, value);
    const now = this.#now();
    const login = { state, nonce, verifier, path, expires: now + loginTime };
    const cookies = [this.#logins.set(login, now)];
    return { location: location.href, cookies };
  }

  /** From the provider to where the browser wanted to go. Throws LoginRefused and the provider's failure. */
  async finish(
    redirectUri: string,
    answer: URLSearchParams,
    cookies: string | undefined,
  ): Promise<Departure> {
    const login = this.#logins.find(cookies, this.#now());
    if (login === undefined)
      throw new LoginRefused("this browser began none in the last ten minutes");
    if (answer.get("state") !== login.state)
      throw new LoginRefused("it is not the one that this browser began last");
    const code = answer.get("code");
    if (code === null) throw new LoginRefused("the OpenID provider says no");
    const name = await this.#redeem(login, { code, redirect_uri: redirectUri });
    const now = this.#now();
    const session = { name, expires: now + sessionTime };
    return {
      location: `.${login.path}`,
      cookies: [this.#sessions.set(session, now), this.#logins.clear()],
    };
  }

  /** To the page that anybody may read. */
  end(): Departure {
    return { location: "./", cookies: [this.#sessions.clear()] };
  }

  /** The name of who logged in. */
  async #redeem(
    { nonce, verifier }: Login,
    form: Readonly<Record<string, string>>,
  ): Promise<string> {
    const { issuer, clientId } = this.#client;
    const own = { client_id: clientId, code_verifier: verifier };
    try {
      const token = await this.#provider.redeem({ ...own, ...form });
      const expected = { issuer, audience: clientId, nonce };
      const current = await this.#provider.find();
      return await verifyWithKeys(this.#provider, current, async (by) => {
        const now = new Date(this.#now());
        const verified = await verifyIdToken(token, by.keys, expected, now);
        return verified && nameOf(verified);
      });
    } catch (error) {
      throw asRefusal(error);
    }
  }
}

/** What the provider says of the code, or its token of itself; any other failure is the provider's. */
function asRefusal(error: unknown): unknown {
  if (error instanceof TokenRefused)
    return new LoginRefused(`of its token: ${error.reason}`, { cause: error });
  const isRefused =
    error instanceof OriginRejectsCredentials ||
    (error instanceof OriginStatus && error.status < 500);
  return isRefused
    ? new LoginRefused("the OpenID provider refuses its code", { cause: error })
    : error;
}

function random(): string {
  return randomBytes(32).toString("base64url");
}
