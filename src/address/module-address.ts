import { parsePart } from "./provider-address.ts";
import { parseHostname, type Hostname } from "./hostname.ts";

/**
 * HOSTNAME/NAMESPACE/NAME/SYSTEM, as in the `source` of a module block, in
 * lower case. Some registries distinguish upper and lower case and others do
 * not. A decision on a module must hold for each spelling.
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

export function formatModuleAddress(address: ModuleAddress): string {
  const { hostname, namespace, name, system } = address;
  return `${hostname}/${namespace}/${name}/${system}`;
}
