import { failure, ifAddress } from "../../errors/index.ts";
import { hostnameAsWritten } from "../hostname.ts";
import { moduleAddress, type ModuleAddress } from "../module-address.ts";
import { parseSelection, type VersionSelection } from "./provider-spec.ts";
import { readModuleSpec, type SpecHosts } from "./spec.ts";

/** A SPEC of the command line that names a module. */
interface ModuleSpec {
  readonly address: ModuleAddress;
  readonly selection: VersionSelection;
}

/** A module of a registry as a configuration calls it. */
interface ModuleCallSource {
  readonly address: ModuleAddress;
  /** Below what the registry names as the module; empty for all of it. */
  readonly subdirectory: string;
}

/** Hosts that clients fetch from with git, for any path. */
const repositoryHosts = new Set(["github.com", "bitbucket.org", "gitlab.com"]);

/** `[HOSTNAME/]NAMESPACE/NAME/SYSTEM[@CONSTRAINT]`, with the CONSTRAINT of a `module` block. */
export function parseModuleSpec(text: string, hosts: SpecHosts): ModuleSpec {
  const { module, chosen } = readModuleSpec(text, hosts);
  return { address: module, selection: parseSelection(chosen, "module") };
}

/** The registry's module that a `source` names; undefined where it names something else (Terraform, "Module Sources"). */
export function parseModuleCall(
  source: string,
  defaultHostname: string,
): ModuleCallSource | undefined {
  const [name = "", ...below] = source.split("//");
  if (repositoryHosts.has(name.split("/")[0] ?? "")) return undefined;
  const address = ifAddress(() => parseModuleAddress(name, defaultHostname));
  return address && { address, subdirectory: below.join("//") };
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
