import type { Sha256 } from "../../address/hash.ts";
import { formatArchiveName } from "../../address/archive-name.ts";
import {
  formatModuleAddress,
  type ModuleAddress,
} from "../../address/module-address.ts";
import { parsePlatform, type Platform } from "../../address/platform.ts";
import {
  providerAddress,
  type ProviderAddress,
} from "../../address/provider-address.ts";
import { isVersion, newestFirst, type Version } from "../../address/version.ts";
import { type Failure, ifAddress, isFailure } from "../../errors/index.ts";
import type { BlobStore, UsedBlob } from "../../store/blobs/blob-store.ts";
import type { RecordStore } from "../../store/records/record-store.ts";
import { listModules, listModuleVersions } from "../modules/records.ts";
import type { ModuleReleaseAddress } from "../modules/release.ts";
import { findServed } from "../modules/pins.ts";
import type { ReleaseRecords } from "../releases/records.ts";
import type { ReleaseAddress } from "../releases/release.ts";
import type { TrustStore } from "../trust/trust-store.ts";

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
  readonly commit: string | undefined;
  readonly stored: UsedBlob | undefined;
}

export interface HeldName {
  readonly name: string;
  /** The newest first. */
  readonly versions: readonly Version[];
  /** Packages, or versions of a module. */
  readonly count: number;
  readonly stored: readonly UsedBlob[];
}

/** What is meant: without a name, everything. */
export interface HeldQuestion {
  readonly provider?: ProviderAddress;
  readonly module?: ModuleAddress;
  readonly choose?: (versions: readonly Version[]) => readonly Version[];
}

/** Lists packages and modules by address, the newest version first, with the errors of unreadable records. */
export async function listHeld(parts: HeldParts, question: HeldQuestion) {
  const stored = await mapStored(parts.blobs);
  const { providers, problems } = await findProviders(parts, question);
  const rows = await listPackages(parts.records, question.provider);
  const byRelease = Map.groupBy(rows, nameRelease);
  const packages = providers.flatMap(({ provider, name, versions }) =>
    [...versions.keys()].flatMap((version) =>
      (byRelease.get(`${name}/${version}`) ?? [])
        .toSorted((a, b) => (a.platform < b.platform ? -1 : 1))
        .map(({ sha256, first_seen, signed_by, ...row }): HeldPackage => {
          const platform = parsePlatform(row.platform);
          return {
            ...{ provider, version, platform, sha256 },
            filename: formatArchiveName(provider, version, platform),
            firstSeen: new Date(first_seen),
            signedBy: signed_by ?? undefined,
            stored: stored.get(sha256),
          };
        }),
    ),
  );
  const modules = await listHeldModules(parts, question, stored);
  return {
    ...{ packages, modules: modules.found },
    problems: [...problems, ...modules.problems],
  };
}

/** The same, by provider and by module; no package is looked at that is not stored. */
export async function countHeld(parts: HeldParts, question: HeldQuestion) {
  const stored = await mapStored(parts.blobs);
  const { providers, problems } = await findProviders(parts, question);
  const kept = Map.groupBy(
    await findStored(parts.records, [...stored.keys()]),
    nameRelease,
  );
  const ofProviders = providers.map(({ name, versions }): HeldName => {
    const found = [...versions.keys()].flatMap(
      (version) => kept.get(`${name}/${version}`) ?? [],
    );
    return {
      ...{ name, versions: [...versions.keys()] },
      count: [...versions.values()].reduce((sum, one) => sum + one, 0),
      stored: found.flatMap(({ sha256 }) => stored.get(sha256) ?? []),
    };
  });
  const modules = await listHeldModules(parts, question, stored);
  const byName = Map.groupBy(modules.found, ({ module }) =>
    formatModuleAddress(module),
  );
  return {
    providers: ofProviders,
    modules: Array.from(byName, ([name, held]): HeldName => ({
      ...{ name, versions: held.map(({ version }) => version) },
      count: held.length,
      stored: held.flatMap((one) => one.stored ?? []),
    })),
    problems: [...problems, ...modules.problems],
  };
}

async function mapStored(
  blobs: BlobStore,
): Promise<ReadonlyMap<Sha256, UsedBlob>> {
  return new Map((await blobs.listUsed()).map((one) => [one.sha256, one]));
}

interface ReleaseColumns {
  readonly hostname: string;
  readonly namespace: string;
  readonly type: string;
  readonly version: string;
}

const nameProvider = ({ hostname, namespace, type }: ReleaseColumns) =>
  `${hostname}/${namespace}/${type}`;

const nameRelease = (row: ReleaseColumns) =>
  `${nameProvider(row)}/${row.version}`;

/** The providers that are meant, by name, with the number of packages of each version. */
async function findProviders(
  { records, releases }: HeldParts,
  { provider: only, module, choose = (versions) => versions }: HeldQuestion,
) {
  const rows = module === undefined ? await countPackages(records, only) : [];
  const problems: Failure<"record-unreadable">[] = [];
  const providers = [];
  for (const [name, own] of Map.groupBy(rows, nameProvider)) {
    const { hostname, namespace, type } = own[0] as ReleaseColumns;
    // A row of another program has no address.
    const provider = ifAddress(() =>
      providerAddress(hostname, namespace, type),
    );
    if (provider === undefined) continue;
    const counts = new Map(own.map((row) => [row.version, Number(row.count)]));
    const known = newestFirst([...counts.keys()].filter(isVersion));
    const versions = new Map<Version, number>();
    for (const version of choose(known)) {
      const count = counts.get(version) ?? 0;
      if (count > 0) versions.set(version, count);
      else
        try {
          // Nothing of it is pinned, unless its record is damaged.
          await releases.readPinned({ provider, version });
        } catch (error) {
          if (!isFailure(error, "record-unreadable")) throw error;
          problems.push(error);
        }
    }
    if (versions.size > 0) providers.push({ provider, name, versions });
  }
  const byName = providers.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  return { providers: byName, problems };
}

/** The versions of all that are met, or of one provider, with the number of their packages. */
function countPackages(records: RecordStore, provider?: ProviderAddress) {
  const own = provider && {
    "r.hostname": provider.hostname,
    "r.namespace": provider.namespace,
    "r.type": provider.type,
  };
  return records.ask((database) =>
    database
      .selectFrom("releases as r")
      .leftJoin("packages as p", (on) =>
        on
          .onRef("p.hostname", "=", "r.hostname")
          .onRef("p.namespace", "=", "r.namespace")
          .onRef("p.type", "=", "r.type")
          .onRef("p.version", "=", "r.version"),
      )
      .where((where) => where.and({ ...own }))
      .groupBy(["r.hostname", "r.namespace", "r.type", "r.version"])
      .select(["r.hostname", "r.namespace", "r.type", "r.version"])
      .select(({ fn }) => fn.count("p.platform").as("count"))
      .execute(),
  );
}

function listPackages(records: RecordStore, provider?: ProviderAddress) {
  return records.ask((database) =>
    database
      .selectFrom("packages")
      .selectAll()
      .where((where) => where.and({ ...provider }))
      .execute(),
  );
}

const atOnce = 1_000;

async function findStored(records: RecordStore, digests: readonly Sha256[]) {
  const found = [];
  for (let start = 0; start < digests.length; start += atOnce)
    found.push(
      ...(await records.ask((database) =>
        database
          .selectFrom("packages")
          .select(["hostname", "namespace", "type", "version", "sha256"])
          .where("sha256", "in", digests.slice(start, start + atOnce))
          .execute(),
      )),
    );
  return found;
}

async function listHeldModules(
  { records, trust }: HeldParts,
  { provider, module, choose = (versions) => versions }: HeldQuestion,
  stored: ReadonlyMap<Sha256, UsedBlob>,
) {
  const found: HeldModule[] = [];
  const problems: Failure<"record-unreadable">[] = [];
  const all = module ? [module] : await listModules(records);
  for (const module of provider ? [] : all)
    for (const version of choose(
      newestFirst(await listModuleVersions(records, module)),
    ))
      try {
        const address = { module, version };
        const served = await findServed(records, trust, address);
        const { sha256, commit } = served?.archive ?? {};
        const archive = sha256 === undefined ? undefined : stored.get(sha256);
        found.push({ ...address, sha256, commit, stored: archive });
      } catch (error) {
        if (!isFailure(error, "record-unreadable")) throw error;
        problems.push(error);
      }
  return { found, problems };
}
