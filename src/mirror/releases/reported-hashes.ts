import type { PackageHash, Sha256 } from "../../address/hash.ts";
import type { ReportedPackage } from "../../origin/registries/registry-answers.ts";

/** What the registry said first of a package, which nobody signs. */
interface FirstReport extends ReportedPackage {
  /** What it says of the same archive instead, where it changed its word. */
  readonly offered?: readonly PackageHash[] | undefined;
}

export type Reports = ReadonlyMap<string, FirstReport>;

/** A release as far as its reports are about it; both by OS_ARCH. */
interface Reported {
  readonly packages: ReadonlyMap<
    string,
    { readonly sha256: Sha256 | undefined }
  >;
  readonly reported: Reports;
}

/**
 * First seen wins for what is reported as well: the h1 that was said first of an archive goes on, whatever the registry
 * says of that archive later, or no more. Another archive, which an operator approved, has a report of its own.
 */
export function continueReports(
  known: Reported,
  release: Reported,
  now: Reports,
): Reports {
  const names = new Set([...known.reported.keys(), ...now.keys()]);
  const continued = [...names].flatMap((name) => {
    const report = isOtherArchive(name, known, release)
      ? now.get(name)
      : continueReport(known.reported.get(name), now.get(name));
    return report === undefined ? [] : [[name, report] as const];
  });
  return new Map(continued);
}

/** The same for a release of which only what was seen first is left; a change of the registry's word is news when it is asked again. */
export function resumeReports(known: Reported, release: Reported): Reports {
  const kept = [...known.reported].filter(
    ([name, { packageHashes }]) =>
      packageHashes.length > 0 && !isOtherArchive(name, known, release),
  );
  return new Map([...release.reported, ...kept]);
}

/** A report that was changed since, and how; each change once. */
interface ChangedReport {
  readonly platform: string;
  readonly first: readonly PackageHash[];
  readonly offered: readonly PackageHash[];
}

/** The changes that were not known yet. */
export function listChangedReports(
  known: Reports,
  reports: Reports,
): readonly ChangedReport[] {
  return [...reports].flatMap(([platform, { packageHashes, offered }]) => {
    const before = known.get(platform)?.offered;
    if (offered === undefined || isWithin(offered, before ?? [])) return [];
    return [{ platform, first: packageHashes, offered }];
  });
}

/** True for an archive that a network mirror had named by its h1 alone, which was another one than it tells now. */
export function tellsOthers(known: Reported, offered: Reported): boolean {
  return [...offered.packages.keys()].some((platform) => {
    const before = known.reported.get(platform)?.packageHashes ?? [];
    const now = offered.reported.get(platform)?.packageHashes ?? [];
    const differs = !before.some((hash) => now.includes(hash));
    const isUnnamed = !known.packages.has(platform);
    return isUnnamed && before.length > 0 && now.length > 0 && differs;
  });
}

function continueReport(
  first: FirstReport | undefined,
  now: FirstReport | undefined,
): FirstReport | undefined {
  if (first === undefined || first.packageHashes.length === 0)
    return now ?? first;
  if (now === undefined || isWithin(now.packageHashes, first.packageHashes))
    return first;
  return { ...first, offered: now.packageHashes };
}

function isOtherArchive(
  name: string,
  known: Reported,
  release: Reported,
): boolean {
  const before = known.packages.get(name)?.sha256;
  const now = release.packages.get(name)?.sha256;
  return now !== undefined && before !== now;
}

function isWithin(
  some: readonly PackageHash[],
  all: readonly PackageHash[],
): boolean {
  return some.every((hash) => all.includes(hash));
}
