import type { Hostname } from "../../../src/address/hostname.ts";
import { failure } from "../../../src/errors/index.ts";
import type { ImportParts } from "../../../src/mirror/bundles/import-bundle.ts";
import type { Archives } from "../../../src/mirror/archives/archives.ts";
import { ProviderChanges } from "../../../src/mirror/cache/provider-changes.ts";
import type { ProviderMirror } from "../../../src/mirror/providers/provider-mirror.ts";
import type { Admission } from "../../../src/mirror/trust/admission.ts";
import type { Notebook } from "../../../src/mirror/trust/trust-events.ts";
import { TrustStore } from "../../../src/mirror/trust/trust-store.ts";
import type { Alarms } from "../../../src/telemetry/alarms.ts";
import type { AuditLog } from "../../../src/store/database/audit-log.ts";
import { composeProviders } from "../../scenes/composed-mirror.ts";
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
  readonly changes: ProviderChanges;
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
  const changes = new ProviderChanges(records);
  const trust = new TrustStore(records, changes);
  records.listen(() => trust.forget());
  return {
    records,
    trust,
    changes,
    notebook: notebookOf(machine, records, life),
  };
}

/** Composes a mirror without files, threads and sockets. */
export function composeMirror(
  machine: MemoryMachine,
  settings: Settings,
  life: Life,
): Composed {
  const { clock, registry } = machine;
  const { signatures, profile } = settings;
  const composed = composeTrust(machine, life);
  const { providers, catalog, admission, settlements, events } =
    composeProviders({
      ...composed,
      hostname: hostname as Hostname,
      origin: {
        registry: new ScriptedOrigin(registry, life),
        ...{ policy: { signatures, profile }, judge, clock },
      },
      rules: rulesOf(settings),
      archives: storedArchives,
      freshness: modelTimes.freshness,
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
  reserve: () => Promise.resolve({ release: () => undefined }),
};
