import type { PackageHash, Sha256 } from "../../address/hash.ts";
import type { ReportedPackage } from "../../origin/registries/registry-answers.ts";
import type { Content } from "../../trust/content.ts";

/** First report of a registry on one package; nothing signs it. */
interface FirstReport extends ReportedPackage {
  /** Digest of the archive that it is about; undefined while only its h1 is known. */
  readonly sha256: Sha256 | undefined;
  /** Later report on the same archive, where it differs. */
  readonly offered?: readonly PackageHash[] | undefined;
}

/** Reports by OS_ARCH. */
export type Reports = ReadonlyMap<string, FirstReport>;

interface Reported {
  readonly trust: {
    readonly pinned: { readonly content: Content } | undefined;
  };
  readonly reported: Reports;
}

/**
 * Joins what a registry reports now to its first reports. An h1 counts if it came
 * with the first admission of its archive; a later one waits until the mirror has
 * computed it (docs/trust.md, rule 9).
 */
export function admitReports(
  { trust: { pinned }, reported }: Reported,
  content: Content,
  now: ReadonlyMap<string, ReportedPackage>,
): Reports {
  const first =
    pinned === undefined ? new Map<string, FirstReport>() : reported;
  const joined = new Map<string, FirstReport>(first);
  for (const [name, report] of now) {
    const sha256 = content.get(name);
    const known = first.get(name);
    const pinnedDigest = pinned?.content.get(name);
    if (known !== undefined && isSameArchive(known, sha256))
      joined.set(name, continueReport({ ...known, sha256 }, report));
    else if (pinnedDigest === undefined)
      joined.set(name, { ...report, sha256 });
    else if (known === undefined && pinnedDigest === sha256)
      joined.set(name, { ...report, packageHashes: [], sha256 });
  }
  return joined;
}

/** Reports on the archives that are served; those on archives without a digest stay. */
export function reportsOn(
  reported: Reports,
  packages: ReadonlyMap<string, { readonly sha256: Sha256 }>,
): Reports {
  return new Map(
    [...reported].filter(([name, { sha256 }]) => {
      const served = packages.get(name)?.sha256;
      return served === undefined || sha256 === undefined || sha256 === served;
    }),
  );
}

/** A report that differs from the first one on the same archive. */
interface ChangedReport {
  readonly platform: string;
  readonly first: readonly PackageHash[];
  readonly offered: readonly PackageHash[];
}

/** Lists the changes that were not known yet. */
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

/** True where a network mirror first reported another h1 for an archive that it names by digest now. */
export function contradictsReports(
  { trust: { pinned }, reported }: Reported,
  content: Content,
  now: ReadonlyMap<string, ReportedPackage>,
): boolean {
  return content.keys().some((platform) => {
    if (pinned?.content.has(platform)) return false;
    const before = reported.get(platform)?.packageHashes ?? [];
    const after = now.get(platform)?.packageHashes ?? [];
    const differs = !before.some((hash) => after.includes(hash));
    return before.length > 0 && after.length > 0 && differs;
  });
}

function continueReport(first: FirstReport, now: ReportedPackage): FirstReport {
  const { size = now.size } = first;
  const isKnown =
    first.packageHashes.length === 0 ||
    isWithin(now.packageHashes, first.packageHashes);
  return isKnown
    ? { ...first, size }
    : { ...first, size, offered: now.packageHashes };
}

/**
 * Compares the archives of two reports. A report without a digest applies to
 * any archive with its h1.
 */
function isSameArchive(
  { sha256: before }: FirstReport,
  sha256: Sha256 | undefined,
): boolean {
  return before === undefined || sha256 === undefined || before === sha256;
}

function isWithin(
  some: readonly PackageHash[],
  all: readonly PackageHash[],
): boolean {
  return some.every((hash) => all.includes(hash));
}
