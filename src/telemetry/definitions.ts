import { Counter, Gauge, Histogram, type Registry } from "prom-client";

/** Events that an operator should look at, by kind. */
export const alarms = {
  "release-replaced":
    "the origin offers other content for a release than it did at first; clients keep getting the first",
  "key-new": "a namespace has a new signing key",
  "key-refused": "a release is held back because of its signing key",
  "signature-refused":
    "an origin offers a release whose signature does not hold",
  "versions-vanished":
    "the origin no longer lists versions that it had listed, or has no documents of the newest ones",
  "archive-tampered":
    "an origin sent an archive that is not the one that was signed, or seen first",
  "archive-damaged":
    "a stored archive was not what its name says, or could not be read; it is dropped and fetched again when it is asked for",
  "record-unreadable":
    "a trust record is damaged; releases that depend on it are refused",
  "decision-undone":
    "audit/decisions.jsonl has an operator's decision that the database has not, as after an older backup was put back; it does not count",
  "database-failing":
    "the database does not answer; what is in memory is served, and everything else is refused",
  "bucket-failing":
    "the bucket, or this replica's way to it, is not as it has to be; what was seen of it is served",
  "audit-lost": "a line of the audit log could not be written",
  "module-replaced":
    "the origin offers other content for a module than is pinned; clients keep getting the pinned one",
  "unexpected-error":
    "something happened that no code foresaw; what it was about was ended",
} as const;

export type AlarmKind = keyof typeof alarms;

const alarmKinds = Object.keys(alarms) as readonly AlarmKind[];

/** Reasons why a verified offer is not admitted. */
export const candidateReasons = [
  "unknown",
  "not-pinned",
  "revoked",
  "other-content",
] as const;

/** Subjects of requests. */
const requestKinds = [
  "index",
  "version",
  "archive",
  "module",
  "page",
  "discovery",
  "operation",
  "other",
] as const;

export type RequestKind = (typeof requestKinds)[number];

/** How one request to a host ended. */
export const originResults = [
  "ok",
  "not-found",
  "refused",
  "busy",
  "failed",
  "timeout",
  "unreachable",
] as const;

export type OriginResult = (typeof originResults)[number];

/** Sources of modules that the mirror cannot fetch from. */
export const knownGetters = ["s3", "gcs", "hg", "git", "http"] as const;

const outcome =
  "hit, joined, fetched, stale, refused, not-found, malformed, failed or none";
const code = "as `code` in the body";
const origin = "of the configuration";
/** Up to what clients wait for metadata, and what archives take. */
const answerBuckets = [
  0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30,
  60, 300, 600,
];

/** Every metric of the mirror beside those of prom-client; docs/metrics.md is made from it. Names and labels stay, since others rely on them. */
export const definitions = {
  buildInfo: {
    type: "gauge",
    name: "provender_build_info",
    help: "Always 1; the labels say what runs.",
    labels: { version: "of provender", node: "of Node" },
  },
  started: {
    type: "gauge",
    name: "provender_start_time_seconds",
    help: "When the process started, in seconds since 1970.",
  },
  requests: {
    type: "counter",
    name: "provender_requests_total",
    help: "Requests answered, by what happened.",
    labels: { outcome, status: "of HTTP" },
  },
  requestSeconds: {
    type: "histogram",
    name: "provender_request_seconds",
    help: "Time from a request to the end of its answer; `_count` is the number of requests.",
    labels: { kind: requestKinds.join(", "), outcome },
    buckets: answerBuckets,
  },
  sentBytes: {
    type: "counter",
    name: "provender_sent_bytes_total",
    help: "Bytes of answers.",
    labels: { outcome },
  },
  staleAnswers: {
    type: "counter",
    name: "provender_stale_answers_total",
    help: "Requests answered with what is out of date while an origin fails.",
  },
  refusals: {
    type: "counter",
    name: "provender_refusals_total",
    help: "Requests that were refused (401, 451).",
    labels: { code },
  },
  failures: {
    type: "counter",
    name: "provender_failures_total",
    help: "Requests that failed (500 to 504).",
    labels: { code },
  },
  originRequests: {
    type: "counter",
    name: "provender_origin_requests_total",
    help: "Requests to an origin and to where its answers lead; each redirect and each try counts.",
    labels: { origin, result: originResults.join(", ") },
  },
  originSeconds: {
    type: "histogram",
    name: "provender_origin_request_seconds",
    help: "Time from a request to an origin to the head of its answer, or its failure.",
    labels: { origin },
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
  },
  originBytes: {
    type: "counter",
    name: "provender_origin_received_bytes_total",
    help: "Bytes of documents and archives that came from an origin; git is not counted.",
    labels: { origin },
  },
  originLastSuccess: {
    type: "gauge",
    name: "provender_origin_last_success_timestamp_seconds",
    help: "When a request to the origin last went well, in seconds since 1970; 0 before.",
    labels: { origin },
  },
  policyReported: {
    type: "counter",
    name: "provender_policy_reported_total",
    help: "Requests that the policy would have refused if policy.mode was not report, by the code of the answer.",
    labels: { code: ["policy-denied", "too-young"] },
  },
  originSuspended: {
    type: "gauge",
    name: "provender_origin_hosts_suspended",
    help: "Hosts that are not asked now, or by one probe at a time.",
  },
  fills: {
    type: "gauge",
    name: "provender_fills",
    help: "Downloads of archives under way.",
  },
  fillsWaiting: {
    type: "gauge",
    name: "provender_fills_waiting",
    help: "Downloads of archives that wait for a place.",
  },
  waiters: {
    type: "gauge",
    name: "provender_waiters",
    help: "Requests that wait for an origin: for metadata, or for archives that are being fetched.",
  },
  passedThrough: {
    type: "counter",
    name: "provender_modules_passed_through_total",
    help: "Answers that send clients elsewhere for a module that the mirror cannot fetch, by what it would take.",
    labels: { getter: [...knownGetters, "other"] },
  },
  archives: {
    type: "counter",
    name: "provender_archives_total",
    help: "Archives that were evicted.",
    labels: { outcome: ["evicted"] },
  },
  storeArchives: {
    type: "gauge",
    name: "provender_store_archives",
    help: "Archives in the store; NaN until they were counted.",
  },
  storeBytes: {
    type: "gauge",
    name: "provender_store_bytes",
    help: "Bytes of the archives in the store; NaN until they were counted.",
  },
  storeRecordBytes: {
    type: "gauge",
    name: "provender_store_record_bytes",
    help: "Bytes of disk that the database takes; NaN until they were counted.",
  },
  storeFreeBytes: {
    type: "gauge",
    name: "provender_store_free_bytes",
    help: "Bytes that the disk of the store has left.",
  },
  bucketDegraded: {
    type: "gauge",
    name: "provender_bucket_degraded",
    help: "With a bucket: 1 while it does not answer or takes no writes, else 0.",
  },
  bucketOutbox: {
    type: "gauge",
    name: "provender_bucket_outbox",
    help: "With a bucket: archives that wait to be brought there.",
  },
  alarms: {
    type: "counter",
    name: "provender_alarms_total",
    help: "Events that an operator should look at, by kind.",
    labels: { kind: alarmKinds },
  },
  alarmTimes: {
    type: "gauge",
    name: "provender_alarm_last_timestamp_seconds",
    help: "When an alarm of a kind was last raised, in seconds since 1970; 0 before.",
    labels: { kind: alarmKinds },
  },
  pendingDecisions: {
    type: "gauge",
    name: "provender_pending_decisions",
    help: "Candidates that need an operator's decision, by the reason why they are not admitted.",
    labels: { reason: candidateReasons },
  },
  undoneDecisions: {
    type: "gauge",
    name: "provender_undone_decisions",
    help: "Decisions of operators that an older backup took back.",
  },
  auditFailures: {
    type: "counter",
    name: "provender_audit_failures_total",
    help: "Lines of the audit log that could not be written.",
  },
  reloads: {
    type: "counter",
    name: "provender_config_reloads_total",
    help: "Times that the configuration was read again, by whether it could be used.",
    labels: { result: ["applied", "failed"] },
  },
  reloaded: {
    type: "gauge",
    name: "provender_config_last_reload_successful",
    help: "1 when the configuration in use is the one that was read last, 0 when that had a mistake.",
  },
  certificateExpiry: {
    type: "gauge",
    name: "provender_certificate_expiry_timestamp_seconds",
    help: "When the certificate in use ends, in seconds since 1970; NaN without TLS of the mirror's own.",
  },
  tokenExpiry: {
    type: "gauge",
    name: "provender_token_expiry_timestamp_seconds",
    help: "When the next of the tokens that clients may use expires, in seconds since 1970; NaN when none does.",
  },
} as const satisfies Readonly<Record<string, Definition>>;

type MetricName = keyof typeof definitions;

type NamesOf<T extends Definition["type"]> = {
  [K in MetricName]: (typeof definitions)[K]["type"] extends T ? K : never;
}[MetricName];

export type CounterName = NamesOf<"counter">;
export type GaugeName = NamesOf<"gauge">;

/** Labels of a metric, with the values that are listed. */
export type LabelsOf<N extends MetricName> = (typeof definitions)[N] extends {
  readonly labels: infer Labels;
}
  ? {
      readonly [K in keyof Labels]: Labels[K] extends readonly (infer V)[]
        ? V
        : string;
    }
  : Readonly<Record<string, never>>;

interface Kinds {
  readonly counter: Counter;
  readonly gauge: Gauge;
  readonly histogram: Histogram;
}

/** Metrics by the names of `definitions`. */
type Series = {
  readonly [N in MetricName]: Kinds[(typeof definitions)[N]["type"]];
};

/** Registers every metric of `definitions`, with the series that exist before the first event. */
export function makeSeries(registry: Registry): Series {
  const made = Object.entries(definitions).map(([name, definition]) => [
    name,
    makeMetric(definition, registry),
  ]);
  return Object.fromEntries(made) as Series;
}

function makeMetric(
  { type, labels = {}, buckets = [], ...rest }: Definition,
  registry: Registry,
): Kinds[keyof Kinds] {
  const labelNames = Object.keys(labels);
  const settings = { ...rest, labelNames, registers: [registry] };
  if (type === "histogram")
    return new Histogram({ ...settings, buckets: [...buckets] });
  const metric =
    type === "counter" ? new Counter(settings) : new Gauge(settings);
  // A series that begins with its first event shows no increase by it.
  for (const [label, values] of Object.entries(labels))
    if (typeof values !== "string")
      for (const value of values) metric.inc({ [label]: value }, 0);
  return metric;
}

/** One metric; a label has the values that are listed, each a series from the start, or those that its sentence names. */
export interface Definition {
  readonly type: "counter" | "gauge" | "histogram";
  readonly name: string;
  readonly help: string;
  readonly labels?: Readonly<Record<string, readonly string[] | string>>;
  /** Upper bounds of a histogram's buckets, in its unit. */
  readonly buckets?: readonly number[];
}
