import { formatModuleAddress } from "../../address/module-address.ts";
import { formatPlatform } from "../../address/platform.ts";
import { formatProviderAddress } from "../../address/provider-address.ts";
import {
  parseSelection,
  selectVersions,
} from "../../address/specs/provider-spec.ts";
import { readEitherSpec, type SpecHosts } from "../../address/specs/spec.ts";
import {
  listHeld,
  type HeldModule,
  type HeldPackage,
  type HeldParts,
  type HeldQuestion,
} from "../../mirror/upkeep/held.ts";

/** Options of a command that takes the SPEC of what is stored. */
export interface SpecOptions {
  readonly hosts: SpecHosts;
  readonly json: boolean;
}

/**
 * Finds the stored packages and modules of a SPEC, or all without one. Other than where packages are fetched, a SPEC
 * without a constraint means every version.
 */
export function findHeld(
  parts: HeldParts,
  spec: string | undefined,
  hosts: SpecHosts,
) {
  if (spec === undefined)
    return listHeld(parts, { choose: choiceOf(undefined) });
  const { chosen, ...named } = readEitherSpec(spec, hosts);
  const choose = choiceOf(chosen, "module" in named ? "module" : "provider");
  return "module" in named
    ? listHeld(parts, { providers: [], modules: [named.module], choose })
    : listHeld(parts, { providers: [named.provider], modules: [], choose });
}

function choiceOf(
  chosen: string | undefined,
  what: "provider" | "module" = "provider",
): HeldQuestion["choose"] {
  if (chosen === undefined) return (versions) => versions;
  const selection = parseSelection(chosen, what);
  return (versions) => selectVersions(selection, versions);
}

/** Names a package as JSON does. */
export function namePackage({
  provider,
  version,
  platform,
  filename,
  sha256,
}: HeldPackage) {
  return {
    provider: formatProviderAddress(provider),
    version,
    platform: formatPlatform(platform),
    filename,
    sha256,
  };
}

/** Names a version of a module as JSON does. */
export function nameModule({ module, version, sha256, commit }: HeldModule) {
  return {
    module: formatModuleAddress(module),
    version,
    sha256: sha256 ?? null,
    commit: commit ?? null,
  };
}
