import type { IncomingMessage } from "node:http";

/** True when the client holds the representation of `tag` already (RFC 9110, 13.1.2: weak comparison). */
export function isUnmodified(
  { headers }: Pick<IncomingMessage, "headers">,
  tag: string,
): boolean {
  const held = headers["if-none-match"];
  if (held === undefined) return false;
  return held
    .split(",")
    .map((text) => text.trim().replace(/^W\//, ""))
    .some((text) => text === tag || text === "*");
}
