import { failure } from "../errors/index.ts";
import { parseHostname } from "./hostname.ts";
import type { ModuleAddress } from "./module-address.ts";
import type { ProviderAddress } from "./provider-address.ts";

/** Providers (three parts) or modules (four) that a rule applies to. */
export interface Pattern {
  readonly text: string;
  readonly parts: readonly Wildcard[];
}

/** The literal text between the stars; one element is a text without any. */
type Wildcard = readonly string[];

const namespaceName = /^[a-z0-9*](?:[a-z0-9*_-]*[a-z0-9*])?$/;
const typeName = /^[a-z0-9*](?:[a-z0-9*-]*[a-z0-9*])?$/;
const moduleName = /^[A-Za-z0-9*](?:[\w*-]*[A-Za-z0-9*])?$/;
const moduleSystem = /^[a-z0-9*]+$/;

/** `HOSTNAME/NAMESPACE/TYPE`, where `*` stands for any text inside its part. */
export function parseProviderPattern(text: string): Pattern {
  return makePattern(text, [namespaceName, typeName]);
}

/** Three parts for providers; four for modules, in any case of letters. */
export function parsePattern(text: string): Pattern {
  if (text.split("/").length < 4) return parseProviderPattern(text);
  return makePattern(text, [moduleName, moduleName, moduleSystem]);
}

function makePattern(text: string, shapes: readonly RegExp[]): Pattern {
  const [hostname = "", ...names] = text.split("/");
  const isFit =
    names.length === shapes.length &&
    shapes.every((shape, at) => shape.test(names[at] ?? ""));
  if (!isFit)
    throw failure(
      "malformed-address",
      "pattern",
      text,
      "HOSTNAME/NAMESPACE/TYPE or HOSTNAME/NAMESPACE/NAME/SYSTEM",
    );
  // With digits for its stars it has to be one.
  parseHostname(hostname.replaceAll("*", "1"));
  const parts = [hostname, ...names.map((name) => name.toLowerCase())];
  return { text, parts: parts.map((part) => part.split("*")) };
}

export function isOfModules({ parts }: Pattern): boolean {
  return parts.length === 4;
}

/** A pattern of providers matches no module, and the other way round. */
export function isMatch(
  { parts: [host = [], ...parts] }: Pattern,
  address: ProviderAddress | ModuleAddress,
): boolean {
  const { hostname, namespace } = address;
  const names =
    "type" in address
      ? [namespace, address.type]
      : [namespace, address.name, address.system];
  return (
    parts.length === names.length &&
    isMatchingHost(host, hostname) &&
    parts.every((part, at) => isMatchingText(part, names[at] ?? ""))
  );
}

/** Addresses leave out port 443; a pattern that names a port is compared with the whole. */
function isMatchingHost(wildcard: Wildcard, hostname: string): boolean {
  const namesPort = wildcard.some((literal) => literal.includes(":"));
  const whole = hostname.includes(":") ? hostname : `${hostname}:443`;
  return isMatchingText(wildcard, namesPort ? whole : hostname);
}

/** Each literal at its leftmost place, the last one at the end: never goes back, so no pattern is slow. */
export function isMatchingText(wildcard: Wildcard, text: string): boolean {
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
