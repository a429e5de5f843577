import { selectVersions, type VersionSelection } from "../../address/spec.ts";
import { formatVersionConstraint } from "../../address/version-constraint.ts";
import type { Version } from "../../address/version.ts";
import { failure } from "../../errors/index.ts";

/** Newest first. A constraint that names one version alone needs no list, unless `1.2.3` may be `1.2.3+build`, as of a module; `where` is for errors. */
export async function chooseVersions(
  name: string,
  selection: VersionSelection,
  where: string,
  listVersions: () => Promise<readonly Version[]>,
): Promise<readonly [Version, ...Version[]]> {
  const [term, ...terms] =
    selection.kind === "constraint" ? selection.constraint : [];
  if (term?.operator === "=" && !term.anyBuild && terms.length === 0)
    return [term.boundary];
  const [newest, ...others] = selectVersions(selection, await listVersions());
  if (newest === undefined)
    throw failure("no-version", name, describeSelection(selection), where);
  return [newest, ...others];
}

function describeSelection(selection: VersionSelection): string {
  if (selection.kind === "all") return '"all"';
  const text =
    selection.kind === "constraint"
      ? formatVersionConstraint(selection.constraint)
      : "";
  return text === "" ? '"latest"; it has prereleases only' : `"${text}"`;
}
