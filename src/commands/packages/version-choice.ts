import { selectVersions, type VersionSelection } from "../../address/spec.ts";
import {
  formatVersionConstraint,
  type VersionConstraint,
} from "../../address/version-constraint.ts";
import type { Version } from "../../address/version.ts";
import { failure } from "../../errors/index.ts";

/** One version by name, all that a SPEC selects, or the newest that a configuration allows. */
export type VersionChoice =
  | { readonly version: Version }
  | { readonly selection: VersionSelection; readonly isNewest: boolean };

/** Newest first. Asks for the list of versions only when the choice needs one; `where` is for errors. */
export async function chooseVersions(
  name: string,
  choice: VersionChoice,
  where: string,
  listVersions: () => Promise<readonly Version[]>,
): Promise<readonly [Version, ...Version[]]> {
  if ("version" in choice) return [choice.version];
  const { selection, isNewest } = choice;
  const [newest, ...others] = selectVersions(selection, await listVersions());
  if (newest === undefined)
    throw failure("no-version", name, describeSelection(selection), where);
  return isNewest ? [newest] : [newest, ...others];
}

/** A constraint that names one version alone needs no list, unless `1.2.3` may be `1.2.3+build`, as of a module. */
export function choiceOf(
  selection: VersionSelection,
  isNewest = false,
): VersionChoice {
  const [term, ...others] =
    selection.kind === "constraint" ? selection.constraint : [];
  return term?.operator === "=" && !term.anyBuild && others.length === 0
    ? { version: term.boundary }
    : { selection, isNewest };
}

/** Chooses the version that a client would install where nothing is locked. */
export function newestOf(constraint: VersionConstraint): VersionChoice {
  return constraint.length === 0
    ? choiceOf({ kind: "latest", count: 1 }, true)
    : choiceOf({ kind: "constraint", constraint }, true);
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
