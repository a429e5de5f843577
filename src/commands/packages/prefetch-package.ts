import { formatArchiveHash } from "../../address/hash.ts";
import { formatPlatform } from "../../address/platform.ts";
import { formatProviderAddress } from "../../address/provider-address.ts";
import {
  failure,
  isAbsence,
  isFailure,
  ProvenderError,
} from "../../errors/index.ts";
import {
  ensureArchive,
  type ArchiveEnsurer,
} from "../../mirror/providers/ensured-archive.ts";
import type { AdmittedPackage } from "../../mirror/providers/provider-mirror.ts";
import type { ReleasePackage } from "../../mirror/releases/release.ts";
import type { ModuleSupply } from "./module-packages.ts";
import type { WantedPackage } from "./package-selection.ts";
import type { Progress, ProgressItem } from "../output/progress.ts";

/**
 * Result for one package. `absent`: one of many versions is not made for the
 * platform. `missing`: a check does not find it. `evicted`: it made room for others of the same run.
 */
export interface PrefetchedPackage {
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

export interface Prefetching {
  readonly mirror: ArchiveEnsurer & ModuleSupply;
  readonly progress: Progress;
  /** Nothing new is begun once it is aborted. */
  readonly signal: AbortSignal;
  /** Reads what is stored too, so that what the disk damaged is fetched again. */
  readonly inspects: boolean;
  /** Asks a mirror that fetches nothing what it holds. */
  readonly checks: boolean;
}

/** `HOSTNAME/NAMESPACE/TYPE VERSION OS_ARCH`. */
export function formatWanted(wanted: WantedPackage): string {
  const { provider, version, platform } = wanted;
  return `${formatProviderAddress(provider)} ${version} ${formatPlatform(platform)}`;
}

/** Brings one package into the store and compares it with the lock files. */
export async function prefetchPackage(
  wanted: WantedPackage,
  parts: Prefetching,
): Promise<PrefetchedPackage> {
  const { progress, signal, checks } = parts;
  let item: ProgressItem = {
    label: formatWanted(wanted),
    size: 0,
    received: 0,
  };
  const begin = (begun: ProgressItem) => {
    item = begun;
    progress.begin(begun);
  };
  const result = await fetchAndCompare(wanted, parts, begin).catch(
    (error: unknown): PrefetchedPackage => {
      if (signal.aborted) return { wanted, outcome: "interrupted" };
      if (checks && isFailure(error, "not-stored"))
        return { wanted, outcome: "missing" };
      if (isAbsence(error) && wanted.isOneOfMany)
        return { wanted, outcome: "absent" };
      if (error instanceof ProvenderError || isSystemError(error))
        return { wanted, outcome: "failed", error };
      throw error;
    },
  );
  progress.end(item, result.outcome);
  return result;
}

async function fetchAndCompare(
  wanted: WantedPackage,
  { mirror, signal, inspects }: Prefetching,
  begin: (item: ProgressItem) => void,
): Promise<PrefetchedPackage> {
  signal.throwIfAborted();
  const { provider, version, platform } = wanted;
  const address = { provider, version };
  const admitted = await mirror.providers.recallPackage(address, platform);
  const { found } = admitted;
  const zh = formatArchiveHash(found.sha256);
  // Refused before anything is fetched: what no h1 could make right.
  const mayFit = (hash: string) => hash === zh || !hash.startsWith("zh:");
  expectLocked(wanted, found, [zh], mayFit);
  signal.throwIfAborted();
  const archive = await ensureArchive(mirror, admitted, { inspects, signal });
  const outcome = archive.outcome === "hit" ? "stored" : "fetched";
  if (outcome === "fetched") begin(itemOf(formatWanted(wanted), archive));
  const h1 = await archive.done;
  const known = h1 === undefined ? [zh] : [h1, zh];
  expectLocked(wanted, found, known, (hash) => known.includes(hash));
  return { wanted, outcome, admitted, size: archive.size, h1 };
}

/** A view of the archive that goes on changing. */
function itemOf(
  label: string,
  archive: { readonly size: number | undefined; readonly received: number },
): ProgressItem {
  return {
    label,
    get size() {
      return archive.size;
    },
    get received() {
      return archive.received;
    },
  };
}

/** Requires a hash of each lock file to fit. */
function expectLocked(
  { locks }: WantedPackage,
  { filename }: ReleasePackage,
  known: readonly string[],
  fits: (hash: string) => boolean,
): void {
  for (const { where, hashes } of locks)
    if (!hashes.some(fits))
      throw failure("lock-mismatch", filename, where, hashes, known);
}

/** True for errors of the system, such as ENOSPC. */
function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && "syscall" in error;
}
