import {
  collectDefaultMetrics,
  Counter,
  Gauge,
  Histogram,
  Registry,
} from "prom-client";
import {
  alarms,
  candidateReasons,
  type OriginResult,
  originResults,
  type RequestKind,
  requestKinds,
} from "./definitions.ts";

/** The values of each label: those that there are, each a series from the start, or a sentence on them. */
type Labels<L extends string = string> = Readonly<
  Record<L, readonly string[] | string>
>;

interface Description {
  readonly type: string;
  readonly name: string;
  readonly help: string;
  readonly labels: Labels;
}

/** A number, or one for each value of the metric's only label; undefined is NaN. */
type Reading = number | undefined | Readonly<Record<string, number>>;

/** Stored amounts, and the free bytes of the disk. */
export interface StoreUse {
  readonly archives: number;
  readonly bytes: number;
  readonly recordBytes: number;
  readonly freeBytes: number;
}

interface CountedRequest {
  readonly kind: RequestKind;
  readonly outcome: string;
  readonly status: number;
  readonly ms: number;
  readonly bytes: number;
  /** Code of the error that was answered. */
  readonly code?: string | undefined;
}

const outcome =
  "hit, joined, fetched, stale, refused, not-found, malformed, failed or none";
const code = "as `code` in the body";
const origin = "of the configuration";
/** Seconds up to what clients wait for metadata, and what archives take. */
const answerBuckets = [
  0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30,
  60, 300, 600,
];

/**
 * The numbers of one process, in the text format of Prometheus; docs/metrics.md is made from them. Names and labels stay,
 * since others rely on them.
 */
export class Metrics {
  readonly #registry = new Registry();
  /** Every metric beside those of prom-client. */
  readonly described: Description[] = [];
  readonly #waiting: (() => number)[] = [];

  readonly buildInfo = this.#gauge(
    "provender_build_info",
    "Always 1; the labels say what runs.",
    { version: "of provender", node: "of Node" },
  );
  readonly started = this.#gauge(
    "provender_start_time_seconds",
    "When the process started, in seconds since 1970.",
  );
  readonly requests = this.#counter(
    "provender_requests_total",
    "Requests answered, by what happened.",
    { outcome, status: "of HTTP" },
  );
  readonly requestSeconds = this.#histogram(
    "provender_request_seconds",
    "Time from a request to the end of its answer; `_count` is the number of requests.",
    { kind: requestKinds.join(", "), outcome },
    answerBuckets,
  );
  readonly sentBytes = this.#counter(
    "provender_sent_bytes_total",
    "Bytes of answers.",
    { outcome },
  );
  readonly staleAnswers = this.#counter(
    "provender_stale_answers_total",
    "Requests answered with what is out of date while an origin fails.",
  );
  readonly refusals = this.#counter(
    "provender_refusals_total",
    "Requests that were refused (401, 451).",
    { code },
  );
  readonly failures = this.#counter(
    "provender_failures_total",
    "Requests that failed (500 to 504).",
    { code },
  );
  readonly originRequests = this.#counter(
    "provender_origin_requests_total",
    "Requests to an origin and to where its answers lead; each redirect and each try counts.",
    { origin, result: originResults.join(", ") },
  );
  readonly originSeconds = this.#histogram(
    "provender_origin_request_seconds",
    "Time from a request to an origin to the head of its answer, or its failure.",
    { origin },
    [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
  );
  readonly originBytes = this.#counter(
    "provender_origin_received_bytes_total",
    "Bytes of documents and archives that came from an origin; git is not counted.",
    { origin },
  );
  readonly originLastSuccess = this.#gauge(
    "provender_origin_last_success_timestamp_seconds",
    "When a request to the origin last went well, in seconds since 1970; 0 before.",
    { origin },
  );
  readonly policyReported = this.#counter(
    "provender_policy_reported_total",
    "Requests that the policy would have refused if policy.mode was not report, by the code of the answer.",
    { code: ["policy-denied", "too-young"] },
  );
  readonly originSuspended = this.#gauge(
    "provender_origin_hosts_suspended",
    "Hosts that are not asked now, or by one probe at a time.",
  );
  readonly fills = this.#gauge(
    "provender_fills",
    "Downloads of archives under way.",
  );
  readonly fillsWaiting = this.#gauge(
    "provender_fills_waiting",
    "Downloads of archives that wait for a place.",
  );
  readonly waiters = this.#gauge(
    "provender_waiters",
    "Requests that wait for an origin: for metadata, or for archives that are being fetched.",
  );
  readonly passedThrough = this.#counter(
    "provender_modules_passed_through_total",
    "Answers that send clients elsewhere for a module that the mirror cannot fetch.",
  );
  readonly archives = this.#counter(
    "provender_archives_total",
    "Archives that were evicted.",
    { outcome: ["evicted"] },
  );
  readonly storeArchives = this.#gauge(
    "provender_store_archives",
    "Archives in the store; NaN until they were counted.",
  );
  readonly storeBytes = this.#gauge(
    "provender_store_bytes",
    "Bytes of the archives in the store; NaN until they were counted.",
  );
  readonly storeRecordBytes = this.#gauge(
    "provender_store_record_bytes",
    "Bytes of disk that the database takes; NaN until they were counted.",
  );
  readonly storeFreeBytes = this.#gauge(
    "provender_store_free_bytes",
    "Bytes that the disk of the store has left.",
  );
  readonly bucketDegraded = this.#gauge(
    "provender_bucket_degraded",
    "With a bucket: 1 while it does not answer or takes no writes, else 0.",
  );
  readonly bucketOutbox = this.#gauge(
    "provender_bucket_outbox",
    "With a bucket: archives that wait to be brought there.",
  );
  readonly alarms = this.#counter(
    "provender_alarms_total",
    "Events that an operator should look at, by kind.",
    { kind: Object.keys(alarms) },
  );
  readonly alarmTimes = this.#gauge(
    "provender_alarm_last_timestamp_seconds",
    "When an alarm of a kind was last raised, in seconds since 1970; 0 before.",
    { kind: Object.keys(alarms) },
  );
  readonly pendingDecisions = this.#gauge(
    "provender_pending_decisions",
    "Candidates that need an operator's decision, by the reason why they are not admitted.",
    { reason: candidateReasons },
  );
  readonly undoneDecisions = this.#gauge(
    "provender_undone_decisions",
    "Decisions of operators that an older backup took back.",
  );
  readonly auditFailures = this.#counter(
    "provender_audit_failures_total",
    "Lines of the audit log that could not be written.",
  );
  readonly reloaded = this.#gauge(
    "provender_config_last_reload_successful",
    "1 when the configuration in use is the one that was read last, 0 when that had a mistake.",
  );
  readonly certificateExpiry = this.#gauge(
    "provender_certificate_expiry_timestamp_seconds",
    "When the certificate in use ends, in seconds since 1970; NaN without TLS of the mirror's own.",
  );
  readonly tokenExpiry = this.#gauge(
    "provender_token_expiry_timestamp_seconds",
    "When the next of the tokens that clients may use expires, in seconds since 1970; NaN when none does.",
  );

  /** Of a process that starts now, with the version of the program. */
  constructor(version: string) {
    collectDefaultMetrics({ register: this.#registry });
    this.buildInfo.set({ version, node: process.versions.node }, 1);
    this.started.setToCurrentTime();
    this.reloaded.set(1);
    this.certificateExpiry.set(NaN);
    this.watch(this.waiters, () =>
      this.#waiting.reduce((sum, count) => sum + count(), 0),
    );
  }

  countRequest(request: CountedRequest): void {
    const { kind, outcome, status, ms, bytes, code } = request;
    this.requests.inc({ outcome, status });
    this.sentBytes.inc({ outcome }, bytes);
    if (outcome === "stale" && status < 400) this.staleAnswers.inc();
    this.requestSeconds.observe({ kind, outcome }, ms / 1000);
    if (code === undefined) return;
    if (outcome === "refused") this.refusals.inc({ code });
    if (outcome === "failed") this.failures.inc({ code });
  }

  /** Error codes that may be answered, before they are. */
  expectCodes(of: "refusals" | "failures", codes: readonly string[]): void {
    for (const code of codes) this[of].inc({ code }, 0);
  }

  /** The series of a configured origin, before it was asked. */
  expectOrigin(origin: string): void {
    for (const result of originResults)
      this.originRequests.inc({ origin, result }, 0);
    this.originBytes.inc({ origin }, 0);
    this.originSeconds.zero({ origin });
    this.originLastSuccess.set({ origin }, 0);
  }

  /** What a client of an origin tells. */
  ofOrigin(origin: string) {
    return {
      onAsked: (result: OriginResult, milliseconds: number) => {
        this.originRequests.inc({ origin, result });
        this.originSeconds.observe({ origin }, milliseconds / 1000);
        if (result === "ok")
          this.originLastSuccess.setToCurrentTime({ origin });
      },
      onReceived: (bytes: number) => this.originBytes.inc({ origin }, bytes),
    };
  }

  /** Adds to `provender_waiters`; asked at each exposition. */
  watchWaiters(count: () => number): void {
    this.#waiting.push(count);
  }

  /** `read` is asked at each exposition; undefined while nothing was counted yet. */
  watchStore(read: () => Promise<StoreUse | undefined>): void {
    this.watch(this.storeArchives, async () => (await read())?.archives);
    this.watch(this.storeBytes, async () => (await read())?.bytes);
    this.watch(this.storeRecordBytes, async () => (await read())?.recordBytes);
    this.watch(this.storeFreeBytes, async () => (await read())?.freeBytes);
  }

  /** `read` is asked at each exposition. */
  watch(gauge: Gauge, read: () => Reading | Promise<Reading>): void {
    const collect = async () => {
      const value = (await read()) ?? NaN;
      if (typeof value === "number") gauge.set(value);
      else
        for (const [labelled, one] of Object.entries(value))
          gauge.labels(labelled).set(one);
    };
    Object.assign(gauge, { collect });
  }

  async render(): Promise<{ readonly type: string; readonly text: string }> {
    const text = await this.#registry.metrics();
    return { type: this.#registry.contentType, text };
  }

  #gauge<L extends string = never>(
    name: string,
    help: string,
    labels = {} as Labels<L>,
  ): Gauge<L> {
    const settings = this.#describe("gauge", name, help, labels);
    return beginSeries(new Gauge(settings), labels);
  }

  #counter<L extends string = never>(
    name: string,
    help: string,
    labels = {} as Labels<L>,
  ): Counter<L> {
    const settings = this.#describe("counter", name, help, labels);
    return beginSeries(new Counter(settings), labels);
  }

  #histogram<L extends string>(
    name: string,
    help: string,
    labels: Labels<L>,
    buckets: number[],
  ): Histogram<L> {
    const settings = this.#describe("histogram", name, help, labels);
    return new Histogram({ ...settings, buckets });
  }

  #describe<L extends string>(
    type: string,
    name: string,
    help: string,
    labels: Labels<L>,
  ) {
    this.described.push({ type, name, help, labels });
    const labelNames = Object.keys(labels) as L[];
    return { name, help, labelNames, registers: [this.#registry] };
  }
}

/** A series that begins with its first event shows no increase by it. */
function beginSeries<M extends Counter | Gauge>(metric: M, labels: Labels): M {
  for (const [label, values] of Object.entries(labels))
    if (typeof values !== "string")
      for (const value of values) metric.inc({ [label]: value }, 0);
  return metric;
}
