import { failure, ifAddress } from "../errors/index.ts";
import { hostnameAsWritten, parseHostname, type Hostname } from "./hostname.ts";
import { parsePart, type ProviderAddress } from "./provider-address.ts";

/**
 * HOSTNAME/NAMESPACE/NAME/SYSTEM, as in the `source` of a module block, in lower case: some registries distinguish
 * upper and lower case, and a decision on a module must hold for each spelling.
 */
export interface ModuleAddress {
  readonly hostname: Hostname;
  readonly namespace: string;
  readonly name: string;
  /** The remote system that the module is written for, such as `aws`. */
  readonly system: string;
  /** NAMESPACE/NAME as they were asked for, which some registries need. */
  readonly spelling: string;
}

const name = /^[0-9A-Za-z](?:[0-9A-Za-z_-]{0,62}[0-9A-Za-z])?$/;
const system = /^[0-9a-z]{1,64}$/;

/** The four parts as a client sends them in a path (Module Registry Protocol, "Module Addresses"). */
export function moduleAddress(
  hostname: string,
  ...[namespace, moduleName, targetSystem]: [string, string, string]
): ModuleAddress {
  const spelling = `${namespace}/${moduleName}`;
  const names = "at most 64 letters, digits, inner dashes and underscores";
  return {
    hostname: parseHostname(hostname),
    spelling,
    namespace: parsePart("namespace", namespace, name, names).toLowerCase(),
    name: parsePart("module name", moduleName, name, names).toLowerCase(),
    system: parsePart(
      "target system",
      targetSystem,
      system,
      "at most 64 lower-case letters and digits",
    ),
  };
}

/** `[HOSTNAME/]NAMESPACE/NAME/SYSTEM`. */
export function parseModuleAddress(
  text: string,
  defaultHostname: string,
): ModuleAddress {
  const parts = text.split("/");
  const [system = "", name = "", namespace = "", hostname = defaultHostname] =
    parts.toReversed();
  if (parts.length < 3 || parts.length > 4)
    throw failure(
      "malformed-address",
      "module address",
      text,
      "[HOSTNAME/]NAMESPACE/NAME/SYSTEM",
    );
  return moduleAddress(hostnameAsWritten(hostname), namespace, name, system);
}

/** Hosts that clients fetch from with git, for any path. */
const repositoryHosts = new Set(["github.com", "bitbucket.org", "gitlab.com"]);

/**
 * The registry's module that the `source` of a module block names, and the folder below what the registry has as the
 * module; undefined where it names something else (Terraform, "Module Sources").
 */
export function parseModuleCall(source: string, defaultHostname: string) {
  const [name = "", ...below] = source.split("//");
  if (repositoryHosts.has(name.split("/")[0] ?? "")) return undefined;
  const address = ifAddress(() => parseModuleAddress(name, defaultHostname));
  return address && { address, subdirectory: below.join("//") };
}

export function formatModuleAddress(address: ModuleAddress): string {
  const { hostname, namespace, name, system } = address;
  return `${hostname}/${namespace}/${name}/${system}`;
}

/** Names a module as records and decisions do, among the providers of its namespace. */
export function typeOfModule(module: ModuleAddress): ProviderAddress {
  const { hostname, namespace, name, system } = module;
  return { hostname, namespace, type: `${name}/${system}` };
}
