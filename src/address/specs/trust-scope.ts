import { failure } from "../../errors/index.ts";
import type { Hostname } from "../hostname.ts";
import type { ModuleAddress } from "../module-address.ts";
import { isNamespace, type ProviderAddress } from "../provider-address.ts";
import {
  providerOfParts,
  readEitherSpec,
  readSpec,
  type SpecHosts,
} from "./spec.ts";
import { parseVersion, type Version } from "../version.ts";

/** Scope of a decision on a key: a namespace, a provider of it, or one release. */
export interface TrustScope {
  readonly hostname: Hostname;
  readonly namespace: string;
  /** Provider type; null for the whole namespace. */
  readonly type: string | null;
  /** Null for every version. */
  readonly version: Version | null;
}

const form = {
  what: "namespace, provider or release",
  expected:
    "[HOSTNAME/]NAMESPACE, [HOSTNAME/]NAMESPACE/TYPE or [HOSTNAME/]NAMESPACE/TYPE@VERSION",
  counts: [1, 2],
};

/** Reads a scope from the number of its parts. */
export function parseTrustScope(text: string, hosts: SpecHosts): TrustScope {
  const { hostname, parts, chosen } = readSpec(text, hosts, form);
  if (parts.length > 1)
    return {
      ...providerOfParts(hostname, parts),
      version: chosen === undefined ? null : parseVersion(chosen),
    };
  const namespace = (parts[0] ?? "").toLowerCase();
  if (chosen !== undefined || !isNamespace(namespace))
    throw failure("malformed-address", form.what, text, form.expected);
  return { hostname, namespace, type: null, version: null };
}

/** Reads a release of a provider, or of a module with NAME/SYSTEM as its type. */
export function parseReleaseSpec(text: string, hosts: SpecHosts) {
  const { chosen, ...named } = readEitherSpec(text, hosts);
  if (chosen === undefined)
    throw failure(
      "malformed-address",
      "release",
      text,
      "[HOSTNAME/]NAMESPACE/TYPE@VERSION or [HOSTNAME/]NAMESPACE/NAME/SYSTEM@VERSION",
    );
  const provider =
    "module" in named ? typeOfModule(named.module) : named.provider;
  return { provider, version: parseVersion(chosen) };
}

/** Names a module as records and decisions do, among the providers of its namespace. */
export function typeOfModule(module: ModuleAddress): ProviderAddress {
  const { hostname, namespace, name, system } = module;
  return { hostname, namespace, type: `${name}/${system}` };
}

/** Quotes a decision of an operator, such as `revoked by root on 2026-11-26 for example.com/acme: asked them`. */
export function quoteDecision(
  { hostname, namespace }: Pick<TrustScope, "hostname" | "namespace">,
  decided: {
    readonly decision: string;
    readonly type: string | null;
    readonly version: string | null;
    readonly at: string;
    readonly by?: string | undefined;
    readonly why?: string | undefined;
  },
): string {
  const { decision, at, by = "an operator", why } = decided;
  const scope = formatTrustScope({ ...decided, hostname, namespace });
  const because = why === undefined ? "" : `: ${why}`;
  return `${decision} by ${by} on ${at.slice(0, 10)} for ${scope}${because}`;
}

/** Writes a scope in the grammar that it is read by, with its hostname. */
export function formatTrustScope({
  hostname,
  namespace,
  type,
  version,
}: Omit<TrustScope, "version"> & { readonly version: string | null }): string {
  const provider = type === null ? "" : `/${type}`;
  const release = version === null ? "" : `@${version}`;
  return `${hostname}/${namespace}${provider}${release}`;
}
