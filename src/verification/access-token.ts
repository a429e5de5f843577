import {
  createLocalJWKSet,
  decodeJwt,
  decodeProtectedHeader,
  errors,
  jwtVerify,
  type JWK,
  type JWTPayload,
} from "jose";
import { failure } from "../errors/index.ts";
import { findRefusedClaim, type ClaimRules } from "./claim-rules.ts";

/** Issuer, audience and claims that a token has to have. */
export interface TokenExpectation {
  /** The issuer's identifier; a slash at its end makes no difference. */
  readonly issuer: URL;
  readonly audience: string;
  readonly claims: ClaimRules;
}

/** A token that an issuer's key has signed. */
export interface AccessToken {
  readonly subject: string;
  /** Milliseconds since 1970. */
  readonly expires: number;
}

/** Only public keys verify these (RFC 8725, 3.1 and 2.1): `none`, and HS256 with a public key as its secret, never do. */
const algorithms = [
  ...["RS256", "RS384", "RS512", "PS256", "PS384", "PS512"],
  ...["ES256", "ES384", "ES512", "EdDSA", "Ed25519"],
];

/** RFC 9068, 2.1, and what providers without it write; other types of tokens are for other uses (RFC 8725, 3.11). */
const types: ReadonlySet<string> = new Set([
  ...["at+jwt", "application/at+jwt", "jwt"],
]);

/** Seconds for which an issuer's clock may be ahead; a token is never taken after it expired. */
const clockTolerance = 60;

export function isJsonWebToken(text: string): boolean {
  return /^[\w-]+\.[\w-]+\.[\w-]*$/.test(text);
}

/**
 * Refuses what no key could make good, before an issuer is asked for keys:
 * throws token-refused. Nothing of the token counts afterwards.
 */
export function inspectAccessToken(
  token: string,
  expected: TokenExpectation,
  now: Date,
): void {
  inspectHeader(token);
  checkClaims(readClaims(token), expected, now);
}

function inspectHeader(token: string): void {
  const { alg, typ } = readHeader(token);
  if (alg === undefined || !algorithms.includes(alg))
    throw failure("token-refused", "its algorithm is none with a public key");
  if (typ !== undefined && !types.has(typ.toLowerCase()))
    throw failure("token-refused", "it is no access token");
}

/** The token's subject, once a key of `keys` has verified it; undefined when it names none of them. Throws token-refused. */
export async function verifyAccessToken(
  token: string,
  keys: readonly object[],
  expected: TokenExpectation,
  now: Date,
): Promise<AccessToken | undefined> {
  const claims = await verifySignature(token, keys, now);
  return claims && checkClaims(claims, expected, now);
}

/** Undefined when no key of `keys` is the one that it names. */
async function verifySignature(
  token: string,
  keys: readonly object[],
  now: Date,
): Promise<JWTPayload | undefined> {
  try {
    const { payload } = await jwtVerify(
      token,
      createLocalJWKSet({ keys: keys as JWK[] }),
      { algorithms, clockTolerance, currentDate: now },
    );
    return payload;
  } catch (error) {
    if (error instanceof errors.JWKSNoMatchingKey) return undefined;
    throw failure("token-refused", explain(error), { cause: error });
  }
}

function explain(error: unknown): string {
  if (error instanceof errors.JWTExpired) return "it has expired";
  if (error instanceof errors.JWTClaimValidationFailed)
    return "it is not valid yet";
  if (error instanceof errors.JWKSMultipleMatchingKeys)
    return "it does not name its key, and its issuer has several";
  return "its signature is not that of its issuer";
}

function readHeader(token: string): {
  readonly alg: string | undefined;
  readonly typ: string | undefined;
} {
  try {
    const { alg, typ } = decodeProtectedHeader(token);
    if (typ !== undefined && typeof typ !== "string") throw new TypeError();
    return { alg, typ };
  } catch {
    throw failure("token-refused", "it cannot be read");
  }
}

function readClaims(token: string): JWTPayload {
  try {
    return decodeJwt(token);
  } catch {
    throw failure("token-refused", "it cannot be read");
  }
}

/** RFC 9068, 4: issuer, audience, expiry; and a name for the log. */
function checkClaims(
  claims: JWTPayload,
  { issuer, audience, claims: rules }: TokenExpectation,
  now: Date,
): AccessToken {
  const { iss, aud, exp, nbf } = claims;
  if (nameIssuer(iss) !== nameIssuer(issuer.href))
    throw failure("token-refused", "it is from another issuer");
  if (![aud].flat().includes(audience))
    throw failure("token-refused", "it is for another audience");
  if (typeof exp !== "number" || !(now.getTime() < exp * 1000))
    throw failure("token-refused", "it has expired");
  if (nbf !== undefined && !(nbf <= now.getTime() / 1000 + clockTolerance))
    throw failure("token-refused", "it is not valid yet");
  const refused = findRefusedClaim(claims, rules);
  if (refused !== undefined)
    throw failure(
      "token-refused",
      `its claim ${JSON.stringify(refused)} has no value that this mirror takes`,
    );
  const subject = [claims.sub, claims.client_id, claims.azp].find(isName);
  if (subject === undefined)
    throw failure("token-refused", "it has no subject");
  return { subject, expires: exp * 1000 };
}

/** Reads which issuer a token names; nothing is verified. Throws token-refused. */
export function readIssuer(token: string): string {
  return nameIssuer(readClaims(token).iss);
}

/** Without the slash at its end, which makes no difference; empty for what is no name. */
export function nameIssuer(issuer: unknown): string {
  return typeof issuer === "string" ? issuer.replace(/\/$/, "") : "";
}

function isName(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}
