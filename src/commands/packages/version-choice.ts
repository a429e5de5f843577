import {
  selectVersions,
  type VersionSelection,
} from "../../address/specs/provider-spec.ts";
import {
  formatVersionConstraint,
  type VersionConstraint,
} from "../../address/version-constraint.ts";
import type { Version } from "../../address/version.ts";
import { failure } from "../../errors/index.ts";
import type { PackageRequest, VersionChoice } from "./request.ts";

/** Asks for the list of versions only when the choice needs one. Throws no-version and what listing throws. */
export async function chooseVersions(
  name: string,
  { choice, where }: Pick<PackageRequest, "choice" | "where">,
  listVersions: () => Promise<readonly Version[]>,
): Promise<readonly Version[]> {
  if (choice.kind === "exact") return [choice.version];
  const versions = await listVersions();
  const selection = selectionOf(choice);
  const matching = selectVersions(selection, versions);
  if (matching.length === 0)
    throw failure("no-version", name, describeSelection(selection), where);
  return choice.kind === "newest" ? matching.slice(0, 1) : matching;
}

/** The version that a client would install where nothing is locked. Throws no-version and what listing throws. */
export async function chooseNewest(
  name: string,
  constraint: VersionConstraint,
  where: string,
  listVersions: () => Promise<readonly Version[]>,
): Promise<Version> {
  const choice = newestOf(constraint);
  const [version] = await chooseVersions(name, { choice, where }, listVersions);
  if (version === undefined) throw new Error("chooseVersions finds one");
  return version;
}

/** A constraint that names one version alone needs no list. */
export function choiceOf(selection: VersionSelection): VersionChoice {
  const version =
    selection.kind === "constraint"
      ? exactVersion(selection.constraint)
      : undefined;
  return version === undefined
    ? { kind: "every", selection }
    : { kind: "exact", version };
}

/** Chooses the version that a client would install where nothing is locked. */
export function newestOf(constraint: VersionConstraint): VersionChoice {
  const version = exactVersion(constraint);
  return version === undefined
    ? { kind: "newest", constraint }
    : { kind: "exact", version };
}

function exactVersion(constraint: VersionConstraint): Version | undefined {
  const [term, ...others] = constraint;
  return term?.operator === "=" && others.length === 0
    ? term.boundary
    : undefined;
}

function selectionOf(
  choice: Exclude<VersionChoice, { kind: "exact" }>,
): VersionSelection {
  if (choice.kind === "every") return choice.selection;
  const { constraint } = choice;
  return constraint.length === 0
    ? { kind: "latest", count: 1 }
    : { kind: "constraint", constraint };
}

function describeSelection(selection: VersionSelection): string {
  switch (selection.kind) {
    case "constraint":
      return `"${formatVersionConstraint(selection.constraint)}"`;
    case "all":
      return '"all"';
    case "latest":
      return '"latest"; it has prereleases only';
  }
}
