import { createHash, randomBytes } from "node:crypto";

/** A token as a client has it, and as the configuration has it. */
export interface IssuedToken {
  readonly token: string;
  readonly configured: {
    readonly name: string;
    readonly sha256: string;
    readonly expires?: string;
  };
}

export function issueToken(name: string, expires?: Date): IssuedToken {
  const token = randomBytes(32).toString("base64url");
  const sha256 = createHash("sha256").update(token).digest("hex");
  const until = expires === undefined ? {} : { expires: expires.toISOString() };
  return { token, configured: { name, sha256, ...until } };
}

/** The header with which a client sends a token. */
export function bearer(token: string): {
  readonly headers: { readonly authorization: string };
} {
  return { headers: { authorization: `Bearer ${token}` } };
}
