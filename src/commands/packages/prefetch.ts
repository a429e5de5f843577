import pLimit from "p-limit";
import type { Sha256 } from "../../address/hash.ts";
import { formatModuleAddress } from "../../address/module-address.ts";
import { formatPlatform } from "../../address/platform.ts";
import { formatProviderAddress } from "../../address/provider-address.ts";
import { untilAborted } from "../../concurrency/in-time.ts";
import { isFailure } from "../../errors/index.ts";
import { formatModuleRelease } from "../../mirror/modules/release.ts";
import {
  formatNotCarried,
  type GatheredModule,
  ModulePackages,
} from "./module-packages.ts";
import {
  selectPackages,
  type Selection,
  type SelectionInput,
} from "./package-selection.ts";
import {
  formatWanted,
  prefetchPackage,
  type PrefetchedPackage,
  type Prefetching,
} from "./prefetch-package.ts";
import {
  describeError,
  formatDocument,
  type Output,
} from "../output/report.ts";
import { formatAmount, formatTime } from "../output/table.ts";

/** Packages that are looked at at once; the mirror bounds the downloads itself. */
const atOnce = 32;

/**
 * `provender prefetch`: brings what is asked for into the store, or names what is not there (`--check`). Returns the
 * exit status: 1 when something could not be had, each of which is named on standard error.
 */
export async function runPrefetch(
  { input, json }: { readonly input: SelectionInput; readonly json: boolean },
  parts: Prefetching,
  output: Output,
): Promise<number> {
  const { progress, signal, mirror } = parts;
  const start = performance.now();
  let results: PrefetchedPackage[] = [];
  const supply = new ModulePackages(mirror, signal);
  let selection = nothingSelected;
  try {
    const selected = selectPackages(input, mirror.providers, supply);
    selection = await untilAborted(selected, signal);
    progress.expect(selection.packages.length);
    await pLimit(atOnce).map(selection.packages, async (wanted) => {
      results.push(await prefetchPackage(wanted, parts));
    });
    // What came is not there any longer when all together are more than the store may hold.
    const unlessGone = async <R extends object>(one: R, sha256?: Sha256) =>
      sha256 !== undefined && (await mirror.blobs.size(sha256)) === undefined
        ? { ...one, outcome: "evicted" as const }
        : one;
    const limit = pLimit(atOnce);
    results = await limit.map(results, (one) =>
      unlessGone(one, one.admitted?.found.sha256),
    );
    const modules = await limit.map(selection.modules, (one) =>
      unlessGone(one, one.archive.sha256),
    );
    selection = { ...selection, modules };
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    progress.close();
  }
  const seconds = (performance.now() - start) / 1000;
  const summary = parts.checks
    ? formatCheck(selection, results)
    : formatSummary(selection, results, seconds, signal.aborted);
  output.stderr(summary);
  if (json) output.stdout(formatJson(selection, results, signal.aborted));
  const isGood = [...results, ...selection.modules].every(
    ({ outcome }) => !["failed", "missing", "evicted"].includes(outcome),
  );
  return isGood && selection.problems.length === 0 && !signal.aborted ? 0 : 1;
}

const nothingSelected: Selection = {
  packages: [],
  modules: [],
  notCarried: [],
  problems: [],
};

function formatSummary(
  { packages, modules, notCarried, problems }: Selection,
  results: readonly PrefetchedPackage[],
  seconds: number,
  isInterrupted: boolean,
): string {
  const of = (outcome: PrefetchedPackage["outcome"]) =>
    results.filter((one) => one.outcome === outcome);
  const ofModules = (outcome: GatheredModule["outcome"]) =>
    modules.filter((one) => one.outcome === outcome);
  const failures = of("failed").map(
    ({ wanted, error }) =>
      `${formatWanted(wanted)}: ${error?.message ?? "failed"}\n`,
  );
  const fetched = of("fetched");
  const bytes = fetched.reduce((sum, { size = 0 }) => sum + size, 0);
  const absent = of("absent").length;
  const evicted = of("evicted");
  const counts = [
    `${fetched.length} fetched (${formatAmount(bytes)} in ${formatTime(seconds)})`,
    `${of("stored").length} stored already`,
    ...(evicted.length > 0 ? [`${evicted.length} evicted again`] : []),
    ...(absent > 0 ? [`${absent} not made for the platform`] : []),
    `${failures.length + problems.length} failed`,
  ];
  const left = packages.length - fetched.length - of("stored").length;
  const rest = isInterrupted
    ? `Interrupted with ${left} of ${packages.length} packages not stored: run the same command again to go on.\n`
    : "";
  const named = [
    ...problems.map(({ message }) => `${message}\n`),
    ...notCarried.map(formatNotCarried),
  ];
  const gone = ofModules("evicted");
  const ofGone = gone.length > 0 ? `, ${gone.length} evicted again` : "";
  const stored =
    modules.length === 0
      ? ""
      : `${ofModules("fetched").length} modules fetched, ${ofModules("stored").length} stored already${ofGone}.\n`;
  const lost = [
    ...evicted.map(({ wanted }) => formatWanted(wanted)),
    ...gone.map(({ address }) => formatModuleRelease(address)),
  ].map((name) => `${name} made room for others.\n`);
  const room =
    lost.length > 0
      ? 'The store cannot hold all of them: raise "storage.maxSize", make room on its disk, or ask for less.\n'
      : "";
  const lines = [...failures, ...lost, stored, `${counts.join(", ")}.\n`, room];
  return [...named, ...lines, rest].join("");
}

/** Formats the result of a check: what is missing, and how much is held. */
function formatCheck(
  { modules, notCarried, problems }: Selection,
  results: readonly PrefetchedPackage[],
): string {
  const missing = results.flatMap(({ wanted, outcome }) =>
    outcome === "missing"
      ? [`${formatWanted(wanted)} is not held here.\n`]
      : [],
  );
  const failed = results.flatMap(({ wanted, error }) =>
    error === undefined ? [] : [`${formatWanted(wanted)}: ${error.message}\n`],
  );
  const unknown = problems.map((error) =>
    isFailure(error, "not-stored")
      ? `${error.subject} is not held here.\n`
      : `${error.message}\n`,
  );
  const left = [...missing, ...failed, ...unknown];
  const held = results.filter(({ outcome }) => outcome === "stored").length;
  return [
    ...notCarried.map(formatNotCarried),
    ...left,
    `${held} packages and ${modules.length} modules held, ${left.length} missing.\n`,
  ].join("");
}

function formatJson(
  { modules, notCarried, problems }: Selection,
  results: readonly PrefetchedPackage[],
  interrupted: boolean,
): string {
  const packages = results
    .toSorted((a, b) =>
      formatWanted(a.wanted) < formatWanted(b.wanted) ? -1 : 1,
    )
    .map(({ wanted, outcome, admitted, size, h1, error }) => ({
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
    }));
  return formatDocument({
    packages,
    modules: modules.map(({ address, archive, ...one }) => ({
      module: formatModuleAddress(address.module),
      version: address.version,
      ...one,
      sha256: archive.sha256,
    })),
    notCarried,
    problems: problems.map(describeError),
    interrupted,
  });
}
