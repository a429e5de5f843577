import type { RecordKey } from "../../../src/store/records/record-tables.ts";
import type { AuditEntry } from "../../../src/telemetry/audit-entry.ts";
import { TestClock } from "../../fakes/clock.ts";
import type { Registry } from "./registry.ts";

/** One record as it is stored. */
export interface StoredRecord {
  readonly key: RecordKey;
  readonly text: string;
  /** Differs after each write. */
  readonly revision: number;
  readonly isDamaged: boolean;
}

/** A write of one process. */
interface RecordChange {
  readonly record: string;
  readonly by: object;
  /** Time on the monotonic clock. */
  readonly at: number;
}

/** Records that outlive the processes of a sequence. */
export class MemoryDisk {
  readonly #records = new Map<string, StoredRecord>();
  /** Writes of processes, in order. */
  readonly changes: RecordChange[] = [];
  #revision = 0;
  /** True while nothing can be written. */
  isFull = false;

  find(name: string): StoredRecord | undefined {
    return this.#records.get(name);
  }

  nextRevision(): number {
    return ++this.#revision;
  }

  put(record: StoredRecord): void {
    this.#records.set(record.key.join("/"), record);
  }

  remove(key: RecordKey): void {
    this.#records.delete(key.join("/"));
  }

  damage(key: RecordKey): void {
    const found = this.find(key.join("/"));
    if (found === undefined) return;
    const damaged = { isDamaged: true, revision: ++this.#revision };
    this.#records.set(key.join("/"), { ...found, ...damaged });
  }

  /** Lists the keys of all records, sorted. */
  list(): readonly RecordKey[] {
    return [...this.#records]
      .toSorted(([one], [other]) => (one < other ? -1 : 1))
      .map(([, { key }]) => key);
  }
}

/** A machine that is modelled whole. */
export class MemoryMachine {
  readonly clock = new TestClock();
  readonly disk = new MemoryDisk();
  /** Alarms as they were raised. */
  readonly alarms: {
    readonly kind: string;
    readonly facts: Readonly<Record<string, unknown>>;
  }[] = [];
  readonly audit: AuditEntry[] = [];
  readonly registry: Registry;

  constructor(registry: Registry) {
    this.registry = registry;
  }
}
