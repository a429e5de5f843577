import { Counter, Gauge, Histogram, Registry } from "prom-client";

/** What happened that an operator should look at. */
export const alarmKinds = [
  "release-replaced",
  "key-new",
  "key-refused",
  "signature-refused",
  "versions-vanished",
  "package-hash-conflict",
  "archive-tampered",
  "archive-damaged",
  "record-unreadable",
  "audit-lost",
  "module-replaced",
  "unexpected-error",
] as const;

export type AlarmKind = (typeof alarmKinds)[number];

/** What is stored, and what the disk has left in bytes. */
interface StoreUse {
  readonly archives: number;
  readonly bytes: number;
  readonly recordBytes: number;
  readonly freeBytes: number;
}

const storeGauges: readonly {
  readonly name: string;
  readonly help: string;
  readonly of: (use: StoreUse) => number;
}[] = [
  {
    name: "provender_store_archives",
    help: "Archives in the store; NaN until they were counted.",
    of: ({ archives }) => archives,
  },
  {
    name: "provender_store_bytes",
    help: "Bytes of the archives in the store; NaN until they were counted.",
    of: ({ bytes }) => bytes,
  },
  {
    name: "provender_store_record_bytes",
    help: "Bytes of disk that the records in the store take, with their copies; NaN until they were counted.",
    of: ({ recordBytes }) => recordBytes,
  },
  {
    name: "provender_store_free_bytes",
    help: "Bytes that the disk of the store has left.",
    of: ({ freeBytes }) => freeBytes,
  },
];

/** What modules come by that the mirror cannot fetch from. */
const knownGetters = new Set(["s3", "gcs", "hg", "git", "http"]);

/** The numbers of one process, in the text format of Prometheus. */
export class Metrics {
  readonly #registry = new Registry();
  readonly #requests = new Counter({
    name: "provender_requests_total",
    help: "Requests answered, by what happened.",
    labelNames: ["outcome", "status"],
    registers: [this.#registry],
  });
  readonly #seconds = new Histogram({
    name: "provender_request_seconds",
    help: "Time from a request to the end of its answer.",
    labelNames: ["outcome"],
    buckets: [0.001, 0.01, 0.1, 1, 10, 60, 600],
    registers: [this.#registry],
  });
  readonly #sent = new Counter({
    name: "provender_sent_bytes_total",
    help: "Bytes of answers.",
    registers: [this.#registry],
  });
  readonly #alarms = new Counter({
    name: "provender_alarms_total",
    help: "Events that an operator should look at, by kind.",
    labelNames: ["kind"],
    registers: [this.#registry],
  });
  readonly #refused = new Counter({
    name: "provender_connections_refused_total",
    help: "Connections closed at once because their client has as many as it may.",
    registers: [this.#registry],
  });
  readonly #stale = new Counter({
    name: "provender_stale_answers_total",
    help: "Requests answered with what is out of date while an origin fails.",
    registers: [this.#registry],
  });
  readonly #retries = new Counter({
    name: "provender_origin_retries_total",
    help: "Requests to origins that were tried again, by origin.",
    labelNames: ["origin"],
    registers: [this.#registry],
  });
  readonly #resumes = new Counter({
    name: "provender_archive_resumes_total",
    help: "Archives of which the rest was asked for after a cut, by origin.",
    labelNames: ["origin"],
    registers: [this.#registry],
  });
  readonly #suspensions = new Counter({
    name: "provender_origin_suspensions_total",
    help: "Times that a host, or one provider on it, was not asked for a while: because it asked for it (busy) or because it failed.",
    labelNames: ["reason"],
    registers: [this.#registry],
  });
  readonly #suspended = new Gauge({
    name: "provender_origin_hosts_suspended",
    help: "Hosts that are not asked now, or by one probe at a time.",
    registers: [this.#registry],
  });
  readonly #passedThrough = new Counter({
    name: "provender_modules_passed_through_total",
    help: "Answers that send clients elsewhere for a module that the mirror cannot fetch, by what it would take.",
    labelNames: ["getter"],
    registers: [this.#registry],
  });
  readonly #up = new Gauge({
    name: "provender_start_time_seconds",
    help: "When the process started, in seconds since 1970.",
    registers: [this.#registry],
  });

  readonly #archives = new Counter({
    name: "provender_archives_total",
    help: "Archives that were evicted, or passed through without being stored.",
    labelNames: ["outcome"],
    registers: [this.#registry],
  });

  readonly #healedRecords = new Counter({
    name: "provender_records_healed_total",
    help: "Copies of records that were no good and were made again from the other copy.",
    registers: [this.#registry],
  });
  readonly #reloads = new Counter({
    name: "provender_config_reloads_total",
    help: "Times that the configuration was read again, by whether it could be used.",
    labelNames: ["result"],
    registers: [this.#registry],
  });
  readonly #reloaded = new Gauge({
    name: "provender_config_last_reload_successful",
    help: "1 when the configuration in use is the one that was read last, 0 when that had a mistake.",
    registers: [this.#registry],
  });

  constructor(startedAt: Date) {
    this.#reloaded.set(1);
    for (const result of ["applied", "failed"])
      this.#reloads.inc({ result }, 0);
    this.#up.set(startedAt.getTime() / 1000);
    // A series that begins with its first event shows no increase by it.
    for (const kind of alarmKinds) this.#alarms.inc({ kind }, 0);
    for (const reason of ["busy", "failing"])
      this.#suspensions.inc({ reason }, 0);
    for (const outcome of ["evicted", "passed"])
      this.#archives.inc({ outcome }, 0);
    for (const getter of [...knownGetters, "other"])
      this.#passedThrough.inc({ getter }, 0);
  }

  countRequest(
    outcome: string,
    status: number,
    milliseconds: number,
    bytes: number,
  ): void {
    this.#requests.inc({ outcome, status });
    if (outcome === "stale" && status < 400) this.#stale.inc();
    this.#seconds.observe({ outcome }, milliseconds / 1000);
    this.#sent.inc(bytes);
  }

  countReload(result: "applied" | "failed"): void {
    this.#reloads.inc({ result });
    this.#reloaded.set(result === "applied" ? 1 : 0);
  }

  countRefusedConnection(): void {
    this.#refused.inc();
  }

  /** `getter` is what a registry wrote, so that only known words become labels. */
  countPassedThrough(getter: string): void {
    const [word = ""] = /^\w*/.exec(getter) ?? [];
    const known = knownGetters.has(word) ? word : "other";
    this.#passedThrough.inc({ getter: known });
  }

  countAlarm(kind: AlarmKind): void {
    this.#alarms.inc({ kind });
  }

  countRetry(origin: string): void {
    this.#retries.inc({ origin });
  }

  countResume(origin: string): void {
    this.#resumes.inc({ origin });
  }

  countSuspension(reason: "busy" | "failing"): void {
    this.#suspensions.inc({ reason });
  }

  /** How many hosts are suspended now. */
  showSuspended(hosts: number): void {
    this.#suspended.set(hosts);
  }

  countHealedRecord(): void {
    this.#healedRecords.inc();
  }

  countArchive(outcome: "evicted" | "passed"): void {
    this.#archives.inc({ outcome });
  }

  /** `read` is asked at each exposition; undefined while nothing was counted yet. */
  watchStore(read: () => Promise<StoreUse | undefined>): void {
    for (const { name, help, of } of storeGauges) {
      const gauge: Gauge = new Gauge({
        name,
        help,
        registers: [this.#registry],
        collect: async () => {
          const use = await read();
          gauge.set(use === undefined ? NaN : of(use));
        },
      });
    }
  }

  /** The exposition, with its media type. */
  async render(): Promise<{ readonly type: string; readonly text: string }> {
    const text = await this.#registry.metrics();
    return { type: this.#registry.contentType, text };
  }
}
