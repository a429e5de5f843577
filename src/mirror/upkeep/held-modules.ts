import type { Sha256 } from "../../address/hash.ts";
import type { ModuleAddress } from "../../address/module-address.ts";
import { newestFirst, type Version } from "../../address/version.ts";
import { type Failure, isFailure } from "../../errors/index.ts";
import type { BlobStore } from "../../store/blobs/blob-store.ts";
import type { ModuleTrustRecords } from "../modules/records.ts";
import type { ModuleReleaseAddress } from "../modules/release.ts";
import { findServed } from "../modules/settlements.ts";
import type { TrustStore } from "../trust/trust-store.ts";
import { findStored, type StoredArchive } from "./stored-archives.ts";

export interface ModuleHoldingParts {
  readonly blobs: BlobStore;
  readonly modules: ModuleTrustRecords;
  readonly trust: Pick<TrustStore, "read">;
}

/** Version of a module as clients get it; its archive may be stored. */
export interface HeldModule extends ModuleReleaseAddress {
  /** Undefined for one that only clients can fetch. */
  readonly sha256: Sha256 | undefined;
  /** Commit of a git source. */
  readonly commit: string | undefined;
  readonly stored: StoredArchive | undefined;
}

/** Selects versions; without `module` those of all. */
export interface HeldModuleQuestion {
  readonly module: ModuleAddress | undefined;
  readonly choose: (versions: readonly Version[]) => readonly Version[];
}

/**
 * Lists by module, the newest version first. For an unreadable record it
 * returns the error.
 */
export async function* listHeldModules(
  parts: ModuleHoldingParts,
  { module, choose }: HeldModuleQuestion,
): AsyncGenerator<HeldModule | Failure<"record-unreadable">> {
  const { blobs, modules } = parts;
  const stored = await findStored(blobs);
  const asked = module === undefined ? await modules.listModules() : [module];
  for (const one of asked)
    for (const version of choose(newestFirst(await modules.listVersions(one))))
      yield await describe(parts, { module: one, version }, stored);
}

async function describe(
  { modules: records, trust }: ModuleHoldingParts,
  address: ModuleReleaseAddress,
  stored: ReadonlyMap<Sha256, StoredArchive>,
): Promise<HeldModule | Failure<"record-unreadable">> {
  try {
    const served = await findServed({ records, trust }, address);
    const { sha256, commit } = served?.archive ?? {};
    const archive = sha256 === undefined ? undefined : stored.get(sha256);
    return { ...address, sha256, commit, stored: archive };
  } catch (error) {
    if (!isFailure(error, "record-unreadable")) throw error;
    return error;
  }
}
