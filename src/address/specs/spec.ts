import { failure, type Failure } from "../../errors/index.ts";
import { findNearest } from "../../errors/nearest.ts";
import { hostnameAsWritten, type Hostname } from "../hostname.ts";
import { moduleAddress } from "../module-address.ts";
import {
  defaultHostname,
  providerAddress,
  type ProviderAddress,
} from "../provider-address.ts";

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

/** A SPEC of the command line in its parts. */
interface Spec {
  readonly hostname: Hostname;
  /** Parts behind the hostname. */
  readonly parts: readonly string[];
  /** Text behind the `@`; undefined without one. */
  readonly chosen: string | undefined;
}

/** Form of the SPECs that a command takes. */
interface SpecForm {
  readonly what: string;
  readonly expected: string;
  /** Numbers of parts behind the hostname. */
  readonly counts: readonly number[];
}

const provider: SpecForm = {
  what: "provider",
  expected: "[HOSTNAME/]NAMESPACE/TYPE",
  counts: [2],
};
const module: SpecForm = {
  what: "module",
  expected: "[HOSTNAME/]NAMESPACE/NAME/SYSTEM",
  counts: [3],
};
const either: SpecForm = {
  what: "provider or module",
  expected: `${provider.expected} or ${module.expected}`,
  counts: [2, 3],
};

/** Most hostnames that an error names. */
const mostNamed = 5;

/**
 * Parses the one grammar of addresses. A first part with a dot or colon, or a configured one, is a hostname; the
 * default is registry.terraform.io. The number of the other parts selects provider or module. Upper and lower case
 * are one, as to clients.
 */
export function readSpec(text: string, hosts: SpecHosts, form: SpecForm): Spec {
  const at = text.indexOf("@");
  const chosen = at < 0 ? undefined : text.slice(at + 1);
  const parts = (at < 0 ? text : text.slice(0, at)).split("/");
  const isNamed = startsWithHostname(parts, hosts, form);
  const hostname = hostnameAsWritten(
    isNamed ? (parts[0] ?? "") : defaultHostname,
  );
  const rest = isNamed ? parts.slice(1) : parts;
  if (!form.counts.includes(rest.length))
    throw failure("malformed-address", form.what, text, form.expected);
  if (!hosts.allowsOthers && !hosts.configured.has(hostname))
    throw unknownHostname(hostname, hosts);
  return { hostname, parts: rest, chosen };
}

/** Reads `[HOSTNAME/]NAMESPACE/TYPE[@…]`. */
export function readProviderSpec(text: string, hosts: SpecHosts) {
  return nameProvider(readSpec(text, hosts, provider));
}

/** Reads `[HOSTNAME/]NAMESPACE/NAME/SYSTEM[@…]`. */
export function readModuleSpec(text: string, hosts: SpecHosts) {
  return nameModule(readSpec(text, hosts, module));
}

/** Reads a SPEC of a provider, or of a module where it has a part more. */
export function readEitherSpec(text: string, hosts: SpecHosts) {
  const spec = readSpec(text, hosts, either);
  return spec.parts.length === 3 ? nameModule(spec) : nameProvider(spec);
}

function nameProvider({ hostname, parts, chosen }: Spec) {
  return { provider: providerOfParts(hostname, parts), chosen };
}

/** Clients write the names of providers in lower case, however they were given (addrs, "ParseProviderPart"). */
export function providerOfParts(
  hostname: Hostname,
  parts: readonly string[],
): ProviderAddress {
  const [namespace = "", type = ""] = parts.map((part) => part.toLowerCase());
  return providerAddress(hostname, namespace, type);
}

function nameModule({ hostname, parts, chosen }: Spec) {
  const [namespace = "", name = "", system = ""] = parts;
  return { module: moduleAddress(hostname, namespace, name, system), chosen };
}

/** A part too many can only be a hostname, known or not. */
function startsWithHostname(
  parts: readonly string[],
  { configured }: SpecHosts,
  { counts }: SpecForm,
): boolean {
  const [first = ""] = parts;
  const isOneMore =
    !counts.includes(parts.length) && counts.includes(parts.length - 1);
  return /[.:]/.test(first) || configured.has(first.toLowerCase()) || isOneMore;
}

function unknownHostname(
  hostname: string,
  { configured }: SpecHosts,
): Failure<"malformed-address"> {
  const all = [...configured];
  const nearest = findNearest(hostname, all);
  const expected =
    nearest === undefined
      ? `one of ${all.slice(0, mostNamed).join(", ")}`
      : `${nearest}, which is the nearest one`;
  return failure(
    "malformed-address",
    `hostname that "origins" configures`,
    hostname,
    expected,
  );
}
