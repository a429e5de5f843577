import { formatModuleAddress } from "../../address/module-address.ts";
import { parseModuleSpec } from "../../address/specs/module-spec.ts";
import { readEitherSpec, type SpecHosts } from "../../address/specs/spec.ts";
import {
  listHeldModules,
  type HeldModule,
  type HeldModuleQuestion,
  type ModuleHoldingParts,
} from "../../mirror/upkeep/held-modules.ts";
import type { HoldingParts } from "../../mirror/upkeep/held-packages.ts";
import { choiceOf, everyVersion, findHeld, sortOut } from "./held-packages.ts";

export type HeldParts = HoldingParts & ModuleHoldingParts;

interface Held extends Awaited<ReturnType<typeof findHeld>> {
  readonly modules: readonly HeldModule[];
}

const nothing = { packages: [], modules: [], problems: [] };

/**
 * Finds the stored packages and modules of a SPEC, or all without one. Throws
 * malformed-address.
 */
export async function findAllHeld(
  parts: HeldParts,
  spec: string | undefined,
  hosts: SpecHosts,
): Promise<Held> {
  const isModule =
    spec !== undefined && "module" in readEitherSpec(spec, hosts);
  const { packages, problems } = isModule
    ? nothing
    : await findHeld(parts, spec, hosts);
  const found =
    isModule || spec === undefined
      ? await findHeldModules(parts, spec, hosts)
      : nothing;
  const all = [...problems, ...found.problems];
  return { packages, modules: found.modules, problems: all };
}

async function findHeldModules(
  parts: ModuleHoldingParts,
  spec: string | undefined,
  hosts: SpecHosts,
) {
  const listed = listHeldModules(parts, readQuestion(spec, hosts));
  const { held, problems } = await sortOut(listed);
  return { modules: held, problems };
}

function readQuestion(
  spec: string | undefined,
  hosts: SpecHosts,
): HeldModuleQuestion {
  if (spec === undefined) return { module: undefined, choose: everyVersion };
  const { address: module, selection } = parseModuleSpec(spec, hosts);
  return { module, choose: choiceOf(spec, selection) };
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
