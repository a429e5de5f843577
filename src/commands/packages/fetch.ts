import pLimit from "p-limit";
import { formatPlatform } from "../../address/platform.ts";
import { formatProviderAddress } from "../../address/provider-address.ts";
import { untilAborted } from "../../concurrency/in-time.ts";
import {
  failure,
  isAbsence,
  isFailure,
  ProvenderError,
} from "../../errors/index.ts";
import { ensureArchive } from "../../mirror/providers/ensured-archive.ts";
import type { AdmittedPackage } from "../../mirror/providers/provider-mirror.ts";
import type { OpenMirror } from "../../wiring/open-mirror.ts";
import type { DependencyLockFile } from "../inputs/dependency-lock-file.ts";
import { type Progress, showProgress } from "../output/progress.ts";
import {
  type Selection,
  type SelectionFlags,
  selectPackages,
  type WantedPackage,
} from "./selection.ts";

/**
 * Result for one package. `absent`: one of many versions is not made for the
 * platform. `missing`: it is not held, and no origin may be asked. `evicted`: it made room for others of the same run.
 */
export interface FetchedPackage {
  readonly wanted: WantedPackage;
  readonly outcome:
    | "stored"
    | "fetched"
    | "evicted"
    | "missing"
    | "absent"
    | "failed"
    | "interrupted";
  readonly admitted?: AdmittedPackage;
  readonly size?: number | undefined;
  readonly h1?: string | undefined;
  readonly error?: Error;
}

/** What was selected, and what came of it. */
export interface Fetched extends Selection {
  readonly results: readonly FetchedPackage[];
}

/** Packages that are looked at at once; the mirror bounds the downloads itself. */
const atOnce = 32;

/**
 * Brings what is asked for into the store; an interruption leaves out what was not begun. `inspects` reads what is stored
 * too, so that what the disk damaged is fetched again.
 */
export async function fetchSelected(
  flags: SelectionFlags,
  lockFiles: readonly DependencyLockFile[],
  mirror: OpenMirror,
  signal: AbortSignal,
  inspects = false,
): Promise<Fetched> {
  const progress = showProgress(flags.json);
  try {
    const selecting = selectPackages(flags, lockFiles, mirror, signal);
    const selection = await untilAborted(selecting, signal);
    progress.expect(selection.packages.length);
    const results = pLimit(atOnce).map(selection.packages, (wanted) =>
      fetchPackage(wanted, mirror, progress, signal, inspects),
    );
    return { ...selection, results: await results };
  } catch (error) {
    if (!signal.aborted) throw error;
    const nothing = { packages: [], modules: [], notCarried: [] };
    return { ...nothing, problems: [], results: [] };
  } finally {
    progress.close();
  }
}

/** Room is made by what is stored. */
export async function measureStore({
  retention,
  configuration,
}: OpenMirror): Promise<void> {
  if (configuration.storage.maxSize !== undefined) await retention.measure();
}

/** `HOSTNAME/NAMESPACE/TYPE VERSION OS_ARCH`. */
export function formatWanted(wanted: WantedPackage): string {
  const { provider, version, platform } = wanted;
  return `${formatProviderAddress(provider)} ${version} ${formatPlatform(platform)}`;
}

/** A line for each thing that could not be had. */
export function listFailures({
  problems,
  results,
}: Fetched): readonly string[] {
  const format = (error: Error, name?: string) =>
    isFailure(error, "not-stored")
      ? `${name ?? error.subject} is not held here.\n`
      : `${name === undefined ? "" : `${name}: `}${error.message}\n`;
  return [
    ...results.flatMap(({ wanted, error }) =>
      error === undefined ? [] : format(error, formatWanted(wanted)),
    ),
    ...problems.map((error) => format(error)),
  ];
}

/** Brings one package into the store and compares it with the lock files. */
async function fetchPackage(
  wanted: WantedPackage,
  mirror: OpenMirror,
  progress: Progress,
  signal: AbortSignal,
  inspects: boolean,
): Promise<FetchedPackage> {
  const label = formatWanted(wanted);
  const fetchAndCompare = async (): Promise<FetchedPackage> => {
    signal.throwIfAborted();
    const { provider, version, platform, locks } = wanted;
    const address = { provider, version };
    const admitted = await mirror.providers.recallPackage(address, platform);
    const { filename, sha256 } = admitted.found;
    const zh = `zh:${sha256}`;
    /** Requires a hash of each lock file to fit. */
    const expectLocked = (
      known: readonly string[],
      fits: (hash: string) => boolean,
    ) => {
      for (const { where, hashes } of locks)
        if (!hashes.some(fits))
          throw failure("lock-mismatch", filename, where, hashes, known);
    };
    // Refused before anything is fetched: what no h1 could make right.
    expectLocked([zh], (hash) => hash === zh || !hash.startsWith("zh:"));
    signal.throwIfAborted();
    const archive = await ensureArchive(mirror, admitted, { inspects, signal });
    const outcome = archive.outcome === "hit" ? "stored" : "fetched";
    if (outcome === "fetched") progress.begin(label, archive);
    const h1 = await archive.done;
    const known = h1 === undefined ? [zh] : [h1, zh];
    expectLocked(known, (hash) => known.includes(hash));
    return { wanted, outcome, admitted, size: archive.size, h1 };
  };
  const result = await fetchAndCompare().catch(
    (error: unknown): FetchedPackage => {
      if (signal.aborted) return { wanted, outcome: "interrupted" };
      if (isFailure(error, "not-stored"))
        return { wanted, outcome: "missing", error };
      if (isAbsence(error) && wanted.isOneOfMany)
        return { wanted, outcome: "absent" };
      // Such as ENOSPC.
      const isSystems = error instanceof Error && "syscall" in error;
      if (error instanceof ProvenderError || isSystems)
        return { wanted, outcome: "failed", error };
      throw error;
    },
  );
  progress.end(label, result.outcome);
  return result;
}
