import type { Sha256 } from "../../address/hash.ts";
import { formatArchiveName } from "../../address/archive-name.ts";
import type { ModuleAddress } from "../../address/module-address.ts";
import { parsePlatform, type Platform } from "../../address/platform.ts";
import type { ProviderAddress } from "../../address/provider-address.ts";
import { newestFirst, type Version } from "../../address/version.ts";
import { type Failure, isFailure } from "../../errors/index.ts";
import type { BlobStore } from "../../store/blobs/blob-store.ts";
import type { RecordStore } from "../../store/records/record-store.ts";
import { listModules, listModuleVersions } from "../modules/records.ts";
import type { ModuleReleaseAddress } from "../modules/release.ts";
import { findServed } from "../modules/pins.ts";
import type { ReleaseRecords } from "../releases/records.ts";
import type { ReleaseAddress } from "../releases/release.ts";
import type { TrustStore } from "../trust/trust-store.ts";
import { listUsed, type UsedBlob } from "./pruning.ts";

interface HeldParts {
  readonly blobs: BlobStore;
  readonly records: RecordStore;
  readonly releases: ReleaseRecords;
  readonly trust: Pick<TrustStore, "read">;
}

/** Recorded package, as first verified; its archive may be stored. */
export interface HeldPackage extends ReleaseAddress {
  readonly platform: Platform;
  readonly filename: string;
  readonly sha256: Sha256;
  readonly firstSeen: Date;
  /** Fingerprint of the primary key that it was admitted under. */
  readonly signedBy: string | undefined;
  readonly stored: UsedBlob | undefined;
}

/** Version of a module as clients get it; its archive may be stored. */
export interface HeldModule extends ModuleReleaseAddress {
  /** Undefined for one that only clients can fetch. */
  readonly sha256: Sha256 | undefined;
  /** Commit of a git source. */
  readonly commit: string | undefined;
  readonly stored: UsedBlob | undefined;
}

interface HeldQuestion {
  readonly providers?: readonly ProviderAddress[];
  readonly modules?: readonly ModuleAddress[];
  readonly choose?: (versions: readonly Version[]) => readonly Version[];
}

/** Lists packages and modules by address, the newest version first, with the errors of unreadable records; absent addresses mean all. */
export async function listHeld(
  { blobs, records, releases, trust }: HeldParts,
  { providers, modules, choose = (versions) => versions }: HeldQuestion,
) {
  const used = await Array.fromAsync(listUsed(blobs));
  const stored = new Map(used.map((one) => [one.sha256, one]));
  const packages = await gather(
    providers ?? (await releases.listProviders()),
    async (provider) => choose(newestFirst(await releases.list(provider))),
    (provider, version) =>
      describePackages(releases, { provider, version }, stored),
  );
  const versions = await gather(
    modules ?? (await listModules(records)),
    async (module) =>
      choose(newestFirst(await listModuleVersions(records, module))),
    async (module, version): Promise<readonly HeldModule[]> => {
      const address = { module, version };
      const served = await findServed(records, trust, address);
      const { sha256, commit } = served?.archive ?? {};
      const archive = sha256 === undefined ? undefined : stored.get(sha256);
      return [{ ...address, sha256, commit, stored: archive }];
    },
  );
  return {
    packages: packages.found,
    modules: versions.found,
    problems: [...packages.problems, ...versions.problems],
  };
}

/** Describes each version, one after the other, and collects the unreadable ones. */
async function gather<Address, T>(
  addresses: readonly Address[],
  list: (address: Address) => Promise<readonly Version[]>,
  describe: (address: Address, version: Version) => Promise<readonly T[]>,
) {
  const found: T[] = [];
  const problems: Failure<"record-unreadable">[] = [];
  for (const address of addresses)
    for (const version of await list(address))
      try {
        found.push(...(await describe(address, version)));
      } catch (error) {
        if (!isFailure(error, "record-unreadable")) throw error;
        problems.push(error);
      }
  return { found, problems };
}

async function describePackages(
  releases: ReleaseRecords,
  address: ReleaseAddress,
  stored: ReadonlyMap<Sha256, UsedBlob>,
): Promise<readonly HeldPackage[]> {
  const pinned = await releases.readPinned(address);
  if (pinned === undefined) return [];
  const { provider, version } = address;
  const { content, at: firstSeen, signedBy } = pinned;
  return [...content]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, sha256]) => {
      const platform = parsePlatform(name);
      const filename = formatArchiveName(provider, version, platform);
      const facts = { platform, filename, sha256, firstSeen, signedBy };
      return { ...address, ...facts, stored: stored.get(sha256) };
    });
}
