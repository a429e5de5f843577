import pLimit from "p-limit";
import type { Sha256 } from "../../address/hash.ts";
import { formatModuleAddress } from "../../address/module-address.ts";
import { formatPlatform } from "../../address/platform.ts";
import { formatProviderAddress } from "../../address/provider-address.ts";
import { formatModuleRelease } from "../../mirror/modules/release.ts";
import type { OpenMirror } from "../../wiring/open-mirror.ts";
import { onStore } from "../command.ts";
import {
  describeError,
  formatDocument,
  stderr,
  stdout,
} from "../output/report.ts";
import { formatAmount } from "../output/table.ts";
import {
  type Fetched,
  type FetchedPackage,
  fetchSelected,
  formatWanted,
  listFailures,
  measureStore,
} from "./fetch.ts";
import { formatNotCarried, type GatheredModule } from "./module-packages.ts";
import { readLockFiles, type SelectionFlags } from "./selection.ts";

/**
 * `provender prefetch`: brings what is asked for into the store, or with `--check` says what is not there. Returns 1 when
 * something could not be had, each of which is named on standard error.
 */
export async function prefetch({
  check = false,
  ...flags
}: SelectionFlags & { readonly check?: boolean }): Promise<number> {
  const lockFiles = await readLockFiles(flags);
  const fetchAll = async (mirror: OpenMirror, signal: AbortSignal) => {
    if (!check) await measureStore(mirror);
    const start = performance.now();
    const fetched = await fetchSelected(flags, lockFiles, mirror, signal);
    const found = signal.aborted ? fetched : await markEvicted(fetched, mirror);
    const seconds = (performance.now() - start) / 1000;
    const bad = listFailures(found);
    const left = found.notCarried.map(formatNotCarried);
    const summary = check
      ? formatCheck(found, bad.length)
      : formatSummary(found, bad.length, seconds, signal.aborted);
    stderr([...bad, ...left, summary].join(""));
    if (flags.json === true) stdout(formatJson(found, signal.aborted));
    const isGood = [...found.results, ...found.modules].every(
      ({ outcome }) => !["failed", "missing", "evicted"].includes(outcome),
    );
    return isGood && found.problems.length === 0 && !signal.aborted ? 0 : 1;
  };
  // What is held is asked of the store alone.
  return onStore(flags, fetchAll, check ? { offline: true } : {});
}

/** What came is not there any longer when all together are more than the store may hold. */
async function markEvicted(
  fetched: Fetched,
  { blobs }: OpenMirror,
): Promise<Fetched> {
  const limit = pLimit(32);
  const mark = async <R extends object>(one: R, sha256: Sha256 | undefined) =>
    sha256 !== undefined && (await blobs.size(sha256)) === undefined
      ? { ...one, outcome: "evicted" as const }
      : one;
  return {
    ...fetched,
    results: await limit.map(fetched.results, (one) =>
      mark(one, one.admitted?.found.sha256),
    ),
    modules: await limit.map(fetched.modules, (one) =>
      mark(one, one.archive.sha256),
    ),
  };
}

function formatCheck({ modules, results }: Fetched, missing: number): string {
  const held = results.filter(({ outcome }) => outcome === "stored").length;
  return `${held} packages and ${modules.length} modules held, ${missing} missing.\n`;
}

function formatSummary(
  { packages, modules, results }: Fetched,
  failed: number,
  seconds: number,
  isInterrupted: boolean,
): string {
  const of = (outcome: FetchedPackage["outcome"]) =>
    results.filter((one) => one.outcome === outcome);
  const ofModules = (outcome: GatheredModule["outcome"]) =>
    modules.filter((one) => one.outcome === outcome);
  const [fetched, stored, absent] = [of("fetched"), of("stored"), of("absent")];
  const bytes = fetched.reduce((sum, { size = 0 }) => sum + size, 0);
  const lost = [
    ...of("evicted").map(({ wanted }) => formatWanted(wanted)),
    ...ofModules("evicted").map(({ address }) => formatModuleRelease(address)),
  ];
  const left = packages.length - fetched.length - stored.length;
  return [
    ...lost.map((name) => `${name} made room for others.\n`),
    modules.length === 0
      ? ""
      : `${ofModules("fetched").length} modules fetched, ${ofModules("stored").length} stored already.\n`,
    `${fetched.length} fetched (${formatAmount(bytes)} in ${Math.ceil(seconds)} s), ${stored.length} stored already`,
    absent.length === 0 ? "" : `, ${absent.length} not made for the platform`,
    `, ${failed} failed.\n`,
    lost.length === 0
      ? ""
      : 'The store cannot hold all of them: raise "storage.maxSize", make room on its disk, or ask for less.\n',
    isInterrupted
      ? `Interrupted with ${left} of ${packages.length} packages not stored: run the same command again to go on.\n`
      : "",
  ].join("");
}

function formatJson(
  { modules, notCarried, problems, results }: Fetched,
  interrupted: boolean,
): string {
  return formatDocument({
    packages: results.map(({ wanted, outcome, admitted, size, h1, error }) => ({
      provider: formatProviderAddress(wanted.provider),
      version: wanted.version,
      platform: formatPlatform(wanted.platform),
      outcome,
      asked: wanted.asked,
      filename: admitted?.found.filename,
      sha256: admitted?.found.sha256,
      size,
      h1,
      ...(error && { error: describeError(error) }),
    })),
    modules: modules.map(({ address, archive, asked, ...one }) => ({
      module: formatModuleAddress(address.module),
      version: address.version,
      ...one,
      asked: [...asked],
      sha256: archive.sha256,
    })),
    notCarried,
    problems: problems.map(describeError),
    interrupted,
  });
}
