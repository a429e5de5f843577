import { sql } from "kysely";
import type { Sha256 } from "../../address/hash.ts";
import { formatArchiveName } from "../../address/archive-name.ts";
import {
  formatModuleAddress,
  type ModuleAddress,
} from "../../address/module-address.ts";
import { parsePlatform, type Platform } from "../../address/platform.ts";
import {
  parseProviderAddress,
  type ProviderAddress,
} from "../../address/provider-address.ts";
import { newestFirst, type Version } from "../../address/version.ts";
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
  const stored = await parts.blobs.listUsed();
  const { providers, problems } = await findProviders(parts, question);
  const rows = await listPackages(parts.records, question.provider);
  const byRelease = Map.groupBy(
    rows,
    ({ name, version }) => `${name}/${version}`,
  );
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
  const stored = await parts.blobs.listUsed();
  const { providers, problems } = await findProviders(parts, question);
  const kept = Map.groupBy(
    await findStored(parts.records, stored),
    ({ name }) => name,
  );
  const ofProviders = providers.map(({ name, versions }): HeldName => ({
    ...{ name, versions: [...versions.keys()] },
    count: versions.values().reduce((sum, one) => sum + one, 0),
    stored: (kept.get(name) ?? []).flatMap(({ version, sha256 }) =>
      versions.has(version as Version) ? (stored.get(sha256) ?? []) : [],
    ),
  }));
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

/** HOSTNAME/NAMESPACE/TYPE of a row. */
const providerName =
  sql<string>`hostname || '/' || namespace || '/' || type`.as("name");

/** The providers that are meant, by name, with the number of packages of each version. */
async function findProviders(
  { records, releases }: HeldParts,
  { provider: only, module, choose = (versions) => versions }: HeldQuestion,
) {
  const rows = module === undefined ? await countPackages(records, only) : [];
  const problems: Failure<"record-unreadable">[] = [];
  const providers = [];
  for (const [name, own] of Map.groupBy(rows, (row) => row.name)) {
    // A row of another program has no address.
    const provider = ifAddress(() => parseProviderAddress(name));
    if (provider === undefined) continue;
    const counts = new Map(own.map((row) => [row.version, Number(row.count)]));
    const known = newestFirst(counts.keys());
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
  return records.ask((database) =>
    database
      .selectFrom("releases")
      .where((where) => where.and({ ...provider }))
      .select([providerName, "version"])
      .select((row) =>
        row
          .selectFrom("packages as p")
          .whereRef("p.hostname", "=", "releases.hostname")
          .whereRef("p.namespace", "=", "releases.namespace")
          .whereRef("p.type", "=", "releases.type")
          .whereRef("p.version", "=", "releases.version")
          .select(({ fn }) => fn.countAll().as("count"))
          .as("count"),
      )
      .execute(),
  );
}

function listPackages(records: RecordStore, provider?: ProviderAddress) {
  return records.ask((database) =>
    database
      .selectFrom("packages")
      .selectAll()
      .select(providerName)
      .where((where) => where.and({ ...provider }))
      .execute(),
  );
}

const atOnce = 1_000;

/** The packages of archives whose use is noted, which are most, by one query; those of the others by their digests. */
async function findStored(
  records: RecordStore,
  stored: ReadonlyMap<Sha256, UsedBlob>,
) {
  return records.ask(async (database) => {
    const packages = database
      .selectFrom("packages")
      .select([providerName, "version", "sha256"]);
    const used = database.selectFrom("uses").select("sha256");
    const found = await packages.where("sha256", "in", used).execute();
    const known = new Set(found.map(({ sha256 }) => sha256));
    const others = [...stored.keys()].filter((one) => !known.has(one));
    for (let start = 0; start < others.length; start += atOnce) {
      const some = others.slice(start, start + atOnce);
      found.push(...(await packages.where("sha256", "in", some).execute()));
    }
    return found;
  });
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
