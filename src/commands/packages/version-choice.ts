import {
  selectVersions,
  type VersionSelection,
} from "../../address/specs/provider-spec.ts";
import {
  formatVersionConstraint,
  type VersionConstraint,
} from "../../address/version-constraint.ts";
import {
  formatModuleConstraint,
  type ModuleConstraint,
} from "../../address/module-constraint.ts";
import type { Version } from "../../address/version.ts";
import { failure } from "../../errors/index.ts";
import type { PackageRequest, VersionChoice } from "./request.ts";

/** Asks for the list of versions only when the choice needs one. */
export async function chooseVersions(
  name: string,
  { choice, where }: Pick<PackageRequest, "choice" | "where">,
  listVersions: () => Promise<readonly Version[]>,
): Promise<readonly Version[]> {
  if (choice.kind === "exact") return [choice.version];
  const versions = await listVersions();
  const { selection } = choice;
  const matching = selectVersions(selection, versions);
  if (matching.length === 0)
    throw failure("no-version", name, describeSelection(selection), where);
  return choice.kind === "newest" ? matching.slice(0, 1) : matching;
}

/** The version that a client would install where nothing is locked. */
export async function chooseNewest(
  name: string,
  choice: VersionChoice,
  where: string,
  listVersions: () => Promise<readonly Version[]>,
): Promise<Version> {
  const [version] = await chooseVersions(name, { choice, where }, listVersions);
  if (version === undefined) throw new Error("chooseVersions finds one");
  return version;
}

/** A provider's constraint that names one version alone needs no list. */
export function choiceOf(selection: VersionSelection): VersionChoice {
  const version = exactVersion(selection);
  return version === undefined
    ? { kind: "every", selection }
    : { kind: "exact", version };
}

/** Chooses the version that a client would install where nothing is locked. */
export function newestOf(constraint: VersionConstraint): VersionChoice {
  const selection: VersionSelection =
    constraint.length === 0
      ? { kind: "latest", count: 1 }
      : { kind: "constraint", constraint };
  const version = exactVersion(selection);
  return version === undefined
    ? { kind: "newest", selection }
    : { kind: "exact", version };
}

/** Chooses as `newestOf`, of a module; clients always ask for the list, in which `1.2.3` may be `1.2.3+build`. */
export function newestOfModule(constraint: ModuleConstraint): VersionChoice {
  const selection: VersionSelection =
    constraint.length === 0
      ? { kind: "latest", count: 1 }
      : { kind: "module-constraint", constraint };
  return { kind: "newest", selection };
}

function exactVersion(selection: VersionSelection): Version | undefined {
  if (selection.kind !== "constraint") return undefined;
  const [term, ...others] = selection.constraint;
  return term?.operator === "=" && others.length === 0
    ? term.boundary
    : undefined;
}

function describeSelection(selection: VersionSelection): string {
  switch (selection.kind) {
    case "constraint":
      return `"${formatVersionConstraint(selection.constraint)}"`;
    case "module-constraint":
      return `"${formatModuleConstraint(selection.constraint)}"`;
    case "all":
      return '"all"';
    case "latest":
      return '"latest"; it has prereleases only';
  }
}
