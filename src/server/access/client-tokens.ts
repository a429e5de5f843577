import { timingSafeEqual } from "node:crypto";
import { failure } from "../../errors/index.ts";

/** A token of the configuration; only its SHA-256 is known. */
interface ClientToken {
  readonly name: string;
  readonly sha256: Buffer;
  /** Milliseconds since 1970; the token is void from then on. */
  readonly expires: number | undefined;
}

/**
 * Tokens by their SHA-256 in lower-case hexadecimal digits; the same token may
 * have several entries.
 */
export type ClientTokens = ReadonlyMap<string, readonly ClientToken[]>;

export function indexTokens(tokens: readonly ClientToken[]): ClientTokens {
  return Map.groupBy(tokens, ({ sha256 }) => sha256.toString("hex"));
}

/**
 * Returns the name of the token with this digest; undefined for an unknown one.
 * Throws token-refused for an expired one.
 */
export function findTokenName(
  tokens: ClientTokens,
  digest: Buffer,
  now: number,
): string | undefined {
  // The time of the look-up reveals at most a little of the digest, and nothing
  // of the token.
  const known = tokens
    .get(digest.toString("hex"))
    ?.filter(({ sha256 }) => timingSafeEqual(sha256, digest));
  if (known === undefined) return undefined;
  const valid = known.find(
    ({ expires }) => expires === undefined || now < expires,
  );
  if (valid === undefined) throw failure("token-refused", "it has expired");
  return valid.name;
}
