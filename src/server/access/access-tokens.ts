import { LRUCache } from "lru-cache";
import { TokenRefused } from "../../errors/index.ts";
import type {
  OpenIdConfiguration,
  OpenIdProvider,
} from "../../origin/registries/openid-provider.ts";
import {
  inspectAccessToken,
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
  /** By the token's digest. */
  readonly #verified = new LRUCache<string, Verified>({ max: mostRemembered });

  constructor(provider: IssuerKeys, expected: TokenExpectation) {
    this.#provider = provider;
    this.#expected = expected;
  }

  /** `oidc:SUBJECT`. Throws TokenRefused, and the issuer's failure when its keys cannot be had. */
  async findName(token: string, digest: string, now: Date): Promise<string> {
    const known = this.#verified.get(digest);
    if (known === undefined) inspectAccessToken(token, this.#expected, now);
    const current = await this.#provider.find();
    if (known?.by === current && now.getTime() < known.expires)
      return nameOf(known);
    const verified = await verifyWithKeys(this.#provider, current, (by) =>
      this.#verifyBy(token, by, now),
    );
    this.#verified.set(digest, verified);
    return nameOf(verified);
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
 * it may be. Throws TokenRefused, and the issuer's failure.
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
  if (again === undefined) throw new TokenRefused("its issuer has no such key");
  return again;
}

/** Who asks, in the log. */
function nameOf({ subject }: AccessToken): string {
  return `oidc:${subject}`;
}
