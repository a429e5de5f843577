import { WrongArchives } from "../../../src/mirror/archives/wrong-archives.ts";
import type { Hostname } from "../../../src/address/hostname.ts";
import type { ProviderAddress } from "../../../src/address/provider-address.ts";
import { failure } from "../../../src/errors/index.ts";
import type { ImportParts } from "../../../src/mirror/bundles/import-bundle.ts";
import type { Archives } from "../../../src/mirror/archives/archives.ts";
import {
  MetadataCache,
  type Revised,
  type MetadataRecords,
} from "../../../src/mirror/cache/metadata-cache.ts";
import { FirstContacts } from "../../../src/mirror/standings/first-contacts.ts";
import { ProviderCatalog } from "../../../src/mirror/standings/provider-catalog.ts";
import { ProviderMirror } from "../../../src/mirror/providers/provider-mirror.ts";
import { RefusedVersions } from "../../../src/mirror/standings/refusals.ts";
import { Standings } from "../../../src/mirror/standings/standings.ts";
import type { ReleaseOrigin } from "../../../src/mirror/releases/evidence.ts";
import type { KnownRelease } from "../../../src/mirror/releases/known-release.ts";
import type { PackageHashes } from "../../../src/mirror/releases/package-hashes.ts";
import { ReleaseRecords } from "../../../src/mirror/releases/records.ts";
import type { ReleaseAddress } from "../../../src/mirror/releases/release.ts";
import type { VersionList } from "../../../src/mirror/versions/version-list.ts";
import {
  providerVersionNaming,
  VersionRecords,
} from "../../../src/mirror/versions/version-records.ts";
import { Admission } from "../../../src/mirror/trust/admission.ts";
import {
  type Notebook,
  TrustEvents,
} from "../../../src/mirror/trust/trust-events.ts";
import { Settlements } from "../../../src/mirror/trust/settlements.ts";
import { TrustStore } from "../../../src/mirror/trust/trust-store.ts";
import type { Alarms } from "../../../src/telemetry/alarms.ts";
import type { AuditLog } from "../../../src/store/database/audit-log.ts";
import { digestOfDocument } from "./documents.ts";
import type { Life } from "./life.ts";
import type { MemoryMachine } from "./memory-machine.ts";
import { MemoryRecords } from "./memory-records.ts";
import { ScriptedOrigin } from "./scripted-origin.ts";
import { modelTimes, hostname, rulesOf, type Settings } from "./settings.ts";
import { toyJudge } from "./toy-keys.ts";

/** Records, trust and notes of one process: what commands need. */
export interface ComposedTrust {
  readonly records: MemoryRecords;
  readonly trust: TrustStore;
  readonly notebook: Notebook;
}

/** The real parts of a mirror, over modelled storage and a modelled origin. */
export interface Composed extends ComposedTrust {
  readonly providers: ProviderMirror;
  readonly admission: Admission;
  readonly importing: ImportParts;
}

const judge = toyJudge(digestOfDocument);

export function composeTrust(
  machine: MemoryMachine,
  life: Life,
): ComposedTrust {
  const records = new MemoryRecords(machine.disk, life, machine.clock);
  const trust = new TrustStore(records);
  records.listen(() => trust.forget());
  return { records, trust, notebook: notebookOf(machine, records, life) };
}

/** Composes what `wireProviders` composes, without files, threads and sockets. */
export function composeMirror(
  machine: MemoryMachine,
  settings: Settings,
  life: Life,
): Composed {
  const { clock } = machine;
  const { offline, signatures, profile } = settings;
  const composed = composeTrust(machine, life);
  const { records, trust, notebook } = composed;
  const policy = { signatures, profile };
  const terms = { judge, clock, policyOf: () => policy };
  const releaseRecords = new ReleaseRecords(records, terms);
  const versionRecords = new VersionRecords(records, providerVersionNaming);
  const cacheOf = <K extends object, V extends Revised>(
    of: MetadataRecords<K, V>,
  ) => {
    const cache = new MetadataCache<K, V>(
      of,
      { ...modelTimes.freshness, answer: 10_000, waiters: 1_000 },
      clock,
      offline,
      () => undefined,
      () => undefined,
    );
    records.listen((changed) => cache.forget(changed));
    return cache;
  };
  const origin: ReleaseOrigin = {
    registry: new ScriptedOrigin(machine.registry, life),
    ...{ policy, judge, clock },
  };
  const releases = cacheOf<ReleaseAddress, KnownRelease>(releaseRecords);
  const events = new TrustEvents(trust, notebook);
  const catalog = new ProviderCatalog({
    origins: new Map([[hostname as Hostname, origin]]),
    versions: cacheOf<ProviderAddress, VersionList>(versionRecords),
    ...{ releases, events },
    notFound: modelTimes.freshness.notFound,
    onVanished: () => undefined,
    onMalformed: () => undefined,
  });
  const admission = new Admission(trust, notebook, rulesOf(settings));
  const settlements = new Settlements({
    ...{ releases, records: releaseRecords, events, notebook },
  });
  const refused = new RefusedVersions({
    ...{ records, clock },
    onUnwritten: () => undefined,
  });
  records.listen((changed) => {
    settlements.forget(changed);
    refused.forget();
  });
  const met = { catalog, events, refused, clock, offline, patience: 5_000 };
  const contacts = new FirstContacts(met);
  const standings = new Standings({
    ...{ catalog, settlements, contacts, refused },
  });
  const providers = new ProviderMirror({
    ...{ catalog, admission, standings, releases: releaseRecords, offline },
    archives: storedArchives,
    wrong: new WrongArchives(records, clock),
    hashes: noHashes,
    alarms: notebook.alarms,
    freshness: modelTimes.freshness.versions,
  });
  const importing = {
    ...{ catalog, admission, settlements, events, clock },
    ...storedBlobs,
  } as unknown as ImportParts;
  return { ...composed, providers, admission, importing };
}

/** Notes what people hear of; nothing is noted by a process that has died. */
function notebookOf(
  machine: MemoryMachine,
  records: MemoryRecords,
  life: Life,
): Notebook {
  const audit = {
    record: async (
      entry: (typeof machine.audit)[number],
      { durable }: { readonly durable: boolean },
    ) => {
      if (machine.disk.isFull && durable)
        throw failure("store-unusable", "the store", "its disk is full");
      const write = () => machine.audit.push(entry);
      // What nothing waits for is kept in memory while the disk is full.
      await (durable ? records.write(write) : life.write(write));
    },
  };
  const alarms = {
    raise: (kind: string, facts: Readonly<Record<string, unknown>>) => {
      if (!life.isDead) machine.alarms.push({ kind, facts });
    },
  };
  return {
    audit: audit as unknown as AuditLog,
    alarms: alarms as unknown as Alarms,
    clock: machine.clock,
  };
}

/** Every archive is stored, and none is read. */
const storedArchives = {
  findSize: () => Promise.resolve(1),
} as unknown as Archives;

/** Blobs and room as imports see them. */
const storedBlobs = {
  blobs: {
    size: () => Promise.resolve(1),
    usage: { begin: () => () => undefined },
  },
  retention: {
    reserve: () => Promise.resolve({ release: () => undefined }),
  },
};

const noHashes = {
  revision: 0,
  find: () => Promise.resolve(undefined),
} as unknown as PackageHashes;
