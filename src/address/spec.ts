import { failure } from "../errors/index.ts";
import { findNearest } from "../errors/nearest.ts";
import { hostnameAsWritten, type Hostname } from "./hostname.ts";
import {
  moduleAddress,
  type ModuleAddress,
  typeOfModule,
} from "./module-address.ts";
import {
  defaultHostname,
  isNamespace,
  providerAddress,
  type ProviderAddress,
} from "./provider-address.ts";
import {
  isAllowed,
  parseModuleConstraint,
  parseVersionConstraint,
  type VersionConstraint,
} from "./version-constraint.ts";
import {
  isPrerelease,
  newestFirst,
  parseVersion,
  type Version,
} from "./version.ts";

/** Hostnames that a SPEC may name. */
export interface SpecHosts {
  /** Keys of `origins`. */
  readonly configured: ReadonlySet<string>;
  /** True where hostnames without an origin are meant too, as in what is stored or logged. */
  readonly allowsOthers: boolean;
}

/** Hosts of a SPEC that names stored or logged things, or is for another mirror. */
export function anyHost({ configured }: SpecHosts): SpecHosts {
  return { configured, allowsOthers: true };
}

/** Selection of a provider's or a module's versions. */
export type VersionSelection =
  | { readonly kind: "constraint"; readonly constraint: VersionConstraint }
  | { readonly kind: "all" }
  | { readonly kind: "latest"; readonly count: number };

/** Scope of a decision on a key: a namespace, a provider of it, or one release. */
export interface TrustScope {
  readonly hostname: Hostname;
  readonly namespace: string;
  /** Provider type; null for the whole namespace. */
  readonly type: string | null;
  /** Null for every version. */
  readonly version: Version | null;
}

const provider = "[HOSTNAME/]NAMESPACE/TYPE";
const module = "[HOSTNAME/]NAMESPACE/NAME/SYSTEM";

/** What the SPECs of a command name, with the numbers of their parts behind the hostname. */
const forms = {
  provider: { expected: provider, counts: [2] },
  module: { expected: module, counts: [3] },
  "provider or module": {
    expected: `${provider} or ${module}`,
    counts: [2, 3],
  },
  "namespace, provider or release": {
    expected: `[HOSTNAME/]NAMESPACE, ${provider} or ${provider}@VERSION`,
    counts: [1, 2],
  },
};

/**
 * `[HOSTNAME/]NAMESPACE/TYPE[@CONSTRAINT]`, where CONSTRAINT is Terraform's language, `all` or `latest:N`; without
 * one the latest version is meant.
 */
export function parseProviderSpec(text: string, hosts: SpecHosts) {
  const spec = readSpec(text, hosts, "provider");
  const selection = parseSelection(spec.chosen, "provider");
  return { address: nameProvider(spec), selection };
}

/** `[HOSTNAME/]NAMESPACE/NAME/SYSTEM[@CONSTRAINT]`, with the CONSTRAINT of a `module` block. */
export function parseModuleSpec(text: string, hosts: SpecHosts) {
  const spec = readSpec(text, hosts, "module");
  const selection = parseSelection(spec.chosen, "module");
  return { address: nameModule(spec), selection };
}

/** A SPEC of a provider, or of a module where it has a part more; `chosen` is the text behind its `@`. */
export function readEitherSpec(text: string, hosts: SpecHosts) {
  const spec = readSpec(text, hosts, "provider or module");
  const { parts, chosen } = spec;
  return parts.length === 3
    ? { module: nameModule(spec), chosen }
    : { provider: nameProvider(spec), chosen };
}

/** A release of a provider, or of a module with NAME/SYSTEM as its type. */
export function parseReleaseSpec(text: string, hosts: SpecHosts) {
  const { chosen, ...named } = readEitherSpec(text, hosts);
  if (chosen === undefined)
    throw failure(
      "malformed-address",
      "release",
      text,
      `${provider}@VERSION or ${module}@VERSION`,
    );
  const release =
    "module" in named ? typeOfModule(named.module) : named.provider;
  return { provider: release, version: parseVersion(chosen) };
}

/** Reads a scope from the number of its parts. */
export function parseTrustScope(text: string, hosts: SpecHosts): TrustScope {
  const what = "namespace, provider or release";
  const spec = readSpec(text, hosts, what);
  const { hostname, parts, chosen } = spec;
  if (parts.length > 1) {
    const version = chosen === undefined ? null : parseVersion(chosen);
    return { ...nameProvider(spec), version };
  }
  const namespace = (parts[0] ?? "").toLowerCase();
  if (chosen !== undefined || !isNamespace(namespace))
    throw failure("malformed-address", what, text, forms[what].expected);
  return { hostname, namespace, type: null, version: null };
}

/** Writes a scope in the grammar that it is read by, with its hostname. */
export function formatTrustScope({
  hostname,
  namespace,
  type,
  version,
}: Omit<TrustScope, "version"> & { readonly version: string | null }): string {
  const below = type === null ? "" : `/${type}`;
  const release = version === null ? "" : `@${version}`;
  return `${hostname}/${namespace}${below}${release}`;
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

/** The text after the `@` of a SPEC, whose constraint has the grammar of what the SPEC names. */
export function parseSelection(
  written: string | undefined,
  what: "provider" | "module",
): VersionSelection {
  if (written === undefined) return { kind: "latest", count: 1 };
  const text = written.trim();
  if (text === "all") return { kind: "all" };
  if (!text.startsWith("latest")) {
    const isModule = what === "module";
    const parse = isModule ? parseModuleConstraint : parseVersionConstraint;
    return { kind: "constraint", constraint: parse(text) };
  }
  const count = /^latest:([1-9][0-9]{0,5})$/.exec(text)?.[1];
  if (count === undefined)
    throw failure(
      "malformed-address",
      "version selection",
      text,
      "latest:N with a number of versions, such as latest:3",
    );
  return { kind: "latest", count: Number(count) };
}

/** The selected ones of `versions`, newest first; prereleases only where a constraint names them. */
export function selectVersions(
  selection: VersionSelection,
  versions: readonly Version[],
): readonly Version[] {
  const ordered = newestFirst(versions);
  if (selection.kind === "constraint")
    return ordered.filter((v) => isAllowed(selection.constraint, v));
  const released = ordered.filter((version) => !isPrerelease(version));
  return selection.kind === "all"
    ? released
    : released.slice(0, selection.count);
}

/** A SPEC in its parts. */
interface Spec {
  readonly hostname: Hostname;
  /** Parts behind the hostname. */
  readonly parts: readonly string[];
  /** Text behind the `@`; undefined without one. */
  readonly chosen: string | undefined;
}

/** Most hostnames that an error names. */
const mostNamed = 5;

/**
 * Parses the one grammar of addresses. A first part with a dot or colon, or a configured one, is a hostname, and so is
 * a part too many; the default is registry.terraform.io. The number of the other parts selects provider or module.
 */
function readSpec(
  text: string,
  { configured, allowsOthers }: SpecHosts,
  what: keyof typeof forms,
): Spec {
  const { expected, counts } = forms[what];
  const at = text.indexOf("@");
  const chosen = at < 0 ? undefined : text.slice(at + 1);
  const written = (at < 0 ? text : text.slice(0, at)).split("/");
  const [first = ""] = written;
  const isNamed =
    /[.:]/.test(first) ||
    configured.has(first.toLowerCase()) ||
    (!counts.includes(written.length) && counts.includes(written.length - 1));
  const hostname = hostnameAsWritten(isNamed ? first : defaultHostname);
  const parts = isNamed ? written.slice(1) : written;
  if (!counts.includes(parts.length))
    throw failure("malformed-address", what, text, expected);
  if (!allowsOthers && !configured.has(hostname)) {
    const nearest = findNearest(hostname, [...configured]);
    throw failure(
      "malformed-address",
      `hostname that "origins" configures`,
      hostname,
      nearest === undefined
        ? `one of ${[...configured].slice(0, mostNamed).join(", ")}`
        : `${nearest}, which is the nearest one`,
    );
  }
  return { hostname, parts, chosen };
}

/** Clients write the names of providers in lower case, however they were given (addrs, "ParseProviderPart"). */
function nameProvider({ hostname, parts }: Spec): ProviderAddress {
  const [namespace = "", type = ""] = parts.map((part) => part.toLowerCase());
  return providerAddress(hostname, namespace, type);
}

function nameModule({ hostname, parts }: Spec): ModuleAddress {
  const [namespace = "", name = "", system = ""] = parts;
  return moduleAddress(hostname, namespace, name, system);
}
