import { failure } from "../errors/index.ts";
import { parseHostname } from "./hostname.ts";
import type { ModuleAddress } from "./module-address.ts";
import type { ProviderAddress } from "./provider-address.ts";

/** Providers that a rule applies to. */
export interface ProviderPattern {
  readonly text: string;
  readonly hostname: Wildcard;
  readonly namespace: Wildcard;
  readonly type: Wildcard;
}

/** Modules that a rule applies to. */
interface ModulePattern {
  readonly text: string;
  readonly hostname: Wildcard;
  readonly namespace: Wildcard;
  readonly name: Wildcard;
  readonly system: Wildcard;
}

export type Pattern = ProviderPattern | ModulePattern;

/** The literal text between the stars; one element is a text without any. */
type Wildcard = readonly string[];

const namespaceName = /^[a-z0-9*](?:[a-z0-9*_-]*[a-z0-9*])?$/;
const typeName = /^[a-z0-9*](?:[a-z0-9*-]*[a-z0-9*])?$/;
const moduleName = /^[A-Za-z0-9*](?:[\w*-]*[A-Za-z0-9*])?$/;
const moduleSystem = /^[a-z0-9*]+$/;

/** `HOSTNAME/NAMESPACE/TYPE`, where `*` stands for any text inside its part. */
export function parseProviderPattern(text: string): ProviderPattern {
  const [hostname = "", namespace = "", type = "", ...more] = text.split("/");
  const isNamed = namespaceName.test(namespace) && typeName.test(type);
  if (!isNamed || more.length > 0)
    throw failure(
      "malformed-address",
      "provider pattern",
      text,
      "HOSTNAME/NAMESPACE/TYPE such as registry.terraform.io/hashicorp/*",
    );
  return {
    text,
    hostname: parseHostWildcard(hostname),
    namespace: parseWildcard(namespace),
    type: parseWildcard(type),
  };
}

/**
 * Parses a pattern, in any case of letters: three parts for providers, four (`HOSTNAME/NAMESPACE/NAME/SYSTEM`) for
 * modules.
 */
export function parsePattern(text: string): Pattern {
  const [hostname = "", namespace = "", name = "", system, ...more] =
    text.split("/");
  if (system === undefined) return parseProviderPattern(text);
  const isNamed = moduleName.test(namespace) && moduleName.test(name);
  if (!isNamed || !moduleSystem.test(system) || more.length > 0)
    throw failure(
      "malformed-address",
      "module pattern",
      text,
      "HOSTNAME/NAMESPACE/NAME/SYSTEM such as registry.terraform.io/acme/*/aws",
    );
  return {
    text,
    hostname: parseHostWildcard(hostname),
    namespace: parseWildcard(namespace.toLowerCase()),
    name: parseWildcard(name.toLowerCase()),
    system: parseWildcard(system),
  };
}

/** Also of a port; with digits for its stars it is a hostname. */
function parseHostWildcard(text: string): Wildcard {
  parseHostname(text.replaceAll("*", "1"));
  return parseWildcard(text);
}

function parseWildcard(text: string): Wildcard {
  return text.split("*");
}

/** A pattern of providers matches no module, and the other way round. */
export function isMatch(
  pattern: Pattern,
  address: ProviderAddress | ModuleAddress,
): boolean {
  const isHome =
    isMatchingHost(pattern.hostname, address.hostname) &&
    isMatchingText(pattern.namespace, address.namespace);
  if ("type" in pattern)
    return (
      isHome && "type" in address && isMatchingText(pattern.type, address.type)
    );
  return (
    isHome &&
    "system" in address &&
    isMatchingText(pattern.name, address.name) &&
    isMatchingText(pattern.system, address.system)
  );
}

/** Addresses leave out port 443; a pattern that names a port is compared with the whole. */
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
