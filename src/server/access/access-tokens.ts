import { LRUCache } from "lru-cache";
import { failure } from "../../errors/index.ts";
import type {
  OpenIdConfiguration,
  OpenIdProvider,
} from "../../origin/registries/openid-provider.ts";
import {
  inspectAccessToken,
  nameIssuer,
  readIssuer,
  verifyAccessToken,
  type AccessToken,
  type TokenExpectation,
} from "../../verification/access-token.ts";

/** A token that was verified, and with which keys. */
interface Verified extends AccessToken {
  readonly by: OpenIdConfiguration;
}

type IssuerKeys = Pick<OpenIdProvider, "find" | "findNewer">;

/** Tokens remembered; one that is forgotten is verified again. */
const mostRemembered = 10_000;

/** Access tokens of an OpenID provider: each is verified once for as long as the same keys are used. */
export class AccessTokens {
  readonly #provider: IssuerKeys;
  readonly #expected: TokenExpectation;
  /** Names by the token's digest. */
  readonly #verified = new LRUCache<string, Verified>({ max: mostRemembered });

  constructor(provider: IssuerKeys, expected: TokenExpectation) {
    this.#provider = provider;
    this.#expected = expected;
  }

  /** Returns `oidc:SUBJECT@ISSUER`. Throws token-refused, and the issuer's failure when its keys cannot be had. */
  async findName(token: string, digest: string, now: Date): Promise<string> {
    const known = this.#verified.get(digest);
    if (known === undefined) inspectAccessToken(token, this.#expected, now);
    const current = await this.#provider.find();
    if (known?.by === current && now.getTime() < known.expires)
      return this.#nameOf(known);
    const verified = await verifyWithKeys(this.#provider, current, (by) =>
      this.#verifyBy(token, by, now),
    );
    this.#verified.set(digest, verified);
    return this.#nameOf(verified);
  }

  /** Two issuers may have the same subject. */
  #nameOf({ subject }: AccessToken): string {
    const { host, pathname } = this.#expected.issuer;
    return `oidc:${subject}@${nameIssuer(host + pathname)}`;
  }

  async #verifyBy(
    token: string,
    by: OpenIdConfiguration,
    now: Date,
  ): Promise<Verified | undefined> {
    const { keys } = by;
    const verified = await verifyAccessToken(token, keys, this.#expected, now);
    return verified && { ...verified, by };
  }
}

/**
 * A key that is not known may be new: then the issuer is asked again, as often as
 * it may be. Throws token-refused, and the issuer's failure.
 */
async function verifyWithKeys<T>(
  provider: Pick<IssuerKeys, "findNewer">,
  current: OpenIdConfiguration,
  verify: (by: OpenIdConfiguration) => Promise<T | undefined>,
): Promise<T> {
  const verified = await verify(current);
  if (verified !== undefined) return verified;
  const newer = await provider.findNewer(current);
  const again = newer === current ? undefined : await verify(newer);
  if (again === undefined)
    throw failure("token-refused", "its issuer has no such key");
  return again;
}

/** Tokens of several issuers; each token names its own. */
export class IssuerTokens {
  readonly #issuers: ReadonlyMap<string, AccessTokens>;

  constructor(issuers: readonly (readonly [URL, AccessTokens])[]) {
    const named = issuers.map(
      ([issuer, tokens]) => [nameIssuer(issuer.href), tokens] as const,
    );
    this.#issuers = new Map(named);
  }

  /** Returns `oidc:SUBJECT@ISSUER`. Throws token-refused, and the issuer's failure when its keys cannot be had. */
  async findName(token: string, digest: string, now: Date): Promise<string> {
    const tokens = this.#issuers.get(readIssuer(token));
    if (tokens === undefined)
      throw failure("token-refused", "it is from another issuer");
    return tokens.findName(token, digest, now);
  }
}
