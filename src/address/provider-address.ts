import { failure } from "../errors/index.ts";
import { type Hostname, parseHostname } from "./hostname.ts";

/** HOSTNAME/NAMESPACE/TYPE, as in a `source` of required_providers. */
export interface ProviderAddress {
  readonly hostname: Hostname;
  readonly namespace: string;
  readonly type: string;
}

/** Inner underscores as Terraform 1.16 takes them; other clients take none. */
const namespaceShape = /^[a-z0-9](?:[a-z0-9_-]{0,62}[a-z0-9])?$/;
const typeShape = /^[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?$/;
/** Hostname of an address that names none. */
export const defaultHostname = "registry.terraform.io";

/** `[HOSTNAME/]NAMESPACE/TYPE`; a missing hostname is registry.terraform.io. */
export function parseProviderAddress(text: string): ProviderAddress {
  const parts = text.split("/");
  const [type = "", namespace = "", hostname = defaultHostname] =
    parts.toReversed();
  if (parts.length < 2 || parts.length > 3)
    throw failure(
      "malformed-address",
      "provider address",
      text,
      "[HOSTNAME/]NAMESPACE/TYPE",
    );
  return providerAddress(hostname, namespace, type);
}

/** The three parts as a client sends them in a path. */
export function providerAddress(
  hostname: string,
  namespace: string,
  type: string,
): ProviderAddress {
  return {
    hostname: parseHostname(hostname),
    namespace: parsePart(
      "namespace",
      namespace,
      namespaceShape,
      "at most 64 lower-case letters, digits, inner dashes and underscores",
    ),
    type: parsePart(
      "provider type",
      type,
      typeShape,
      "at most 64 lower-case letters, digits and inner dashes",
    ),
  };
}

export function formatProviderAddress(address: ProviderAddress): string {
  return `${address.hostname}/${address.namespace}/${address.type}`;
}

/** True for what providers can have as their namespace. */
export function isNamespace(text: string): boolean {
  return namespaceShape.test(text);
}

export function parsePart(
  what: string,
  text: string,
  shape: RegExp,
  expected: string,
): string {
  if (!shape.test(text))
    throw failure("malformed-address", what, text, expected);
  return text;
}
