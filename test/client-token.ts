import { hash, randomBytes } from "node:crypto";

/** A token as a client has it, and as the configuration has it. */
export function issueToken(name: string, expires?: Date) {
  const token = randomBytes(32).toString("base64url");
  const until = expires === undefined ? {} : { expires: expires.toISOString() };
  return {
    token,
    configured: { name, sha256: hash("sha256", token), ...until },
  };
}

/** The header with which a client sends a token. */
export const bearer = (token: string) => ({
  headers: { authorization: `Bearer ${token}` },
});
