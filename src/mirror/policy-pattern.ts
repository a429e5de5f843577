import type { ProviderAddress } from "../address/provider-address.ts";
import { MalformedAddress } from "../errors.ts";

/** Which providers a rule speaks of. */
export interface ProviderPattern {
  readonly text: string;
  readonly hostname: Wildcard;
  readonly namespace: Wildcard;
  readonly type: Wildcard;
}

/** The literal text between the stars; one element is a text without any. */
type Wildcard = readonly string[];

/** `HOSTNAME/NAMESPACE/TYPE`, where `*` stands for any text inside its part. Throws MalformedAddress. */
export function parseProviderPattern(text: string): ProviderPattern {
  const [, hostname, namespace, type] =
    /^([a-z0-9.:*-]+)\/([a-z0-9*-]+)\/([a-z0-9*-]+)$/.exec(text) ?? [];
  if (!hostname || !namespace || !type)
    throw new MalformedAddress(
      "provider pattern",
      text,
      "HOSTNAME/NAMESPACE/TYPE such as registry.terraform.io/hashicorp/*",
    );
  return {
    text,
    hostname: hostname.split("*"),
    namespace: namespace.split("*"),
    type: type.split("*"),
  };
}

export function isMatch(
  pattern: ProviderPattern,
  { hostname, namespace, type }: ProviderAddress,
): boolean {
  return (
    isMatchingHost(pattern.hostname, hostname) &&
    isMatchingText(pattern.namespace, namespace) &&
    isMatchingText(pattern.type, type)
  );
}

/** Addresses leave out port 443; a pattern that names a port is held against the whole. */
function isMatchingHost(wildcard: Wildcard, hostname: string): boolean {
  const namesPort = wildcard.some((literal) => literal.includes(":"));
  const whole = hostname.includes(":") ? hostname : `${hostname}:443`;
  return isMatchingText(wildcard, namesPort ? whole : hostname);
}

/** Each literal at its leftmost place, the last one at the end: never goes back, so no pattern is slow. */
function isMatchingText(wildcard: Wildcard, text: string): boolean {
  const [first = "", ...others] = wildcard;
  const last = others.pop();
  if (last === undefined) return text === first;
  if (!text.startsWith(first)) return false;
  let end = first.length;
  for (const literal of others) {
    const start = text.indexOf(literal, end);
    if (start < 0) return false;
    end = start + literal.length;
  }
  return text.length - end >= last.length && text.endsWith(last);
}
