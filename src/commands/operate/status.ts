import { z } from "zod";
import { explainFailure } from "../doctor/connection.ts";
import { askMirror, type MirrorAccess } from "../doctor/mirror-answer.ts";
import { formatAmount } from "../output/figures.ts";
import { formatDocument } from "../output/json-document.ts";
import { formatRows, formatTable } from "../output/table.ts";
import { parseExposition, valueOf, valuesBy } from "./exposition.ts";

/** The mirror to be looked at; what only its own machine knows is undefined elsewhere. */
interface StatusSubject {
  readonly access: MirrorAccess | undefined;
  /** The daemon that is asked itself. */
  readonly daemon: AskedDaemon | undefined;
  /** URL of the daemon for clients. */
  readonly url: string | undefined;
  readonly pid: number | undefined;
  readonly directory: string | undefined;
  readonly policyMode: string | undefined;
  /** Heads of the audit logs; empty where they cannot be read. */
  readonly audit: readonly AuditHead[];
}

interface AskedDaemon {
  /** Throws not-ready. */
  checkReady(): Promise<void>;
  /** The text format of Prometheus. */
  renderMetrics(): Promise<string>;
}

interface AuditHead {
  readonly log: string;
  /** Lines. */
  readonly size: number;
  /** SHA-256 of the last line. */
  readonly sha256: string;
}

type Figures = ReturnType<typeof readFigures>;

/** Status as `status --json` shows it. */
interface Status {
  readonly running: boolean;
  readonly ready: boolean;
  /** Reasons why it is not running, not ready, or without figures. */
  readonly problems: readonly string[];
  readonly figures: Figures | undefined;
}

/** `provender status`: returns the exit status, 1 when the mirror does not run or is not ready. */
export async function runStatus(
  subject: StatusSubject,
  { json, signal }: { readonly json: boolean; readonly signal: AbortSignal },
  stdout: (text: string) => void,
): Promise<number> {
  const status = await findStatus(subject, signal);
  stdout(json ? formatJson(subject, status) : formatText(subject, status));
  return status.ready ? 0 : 1;
}

async function findStatus(
  { access, daemon, directory }: StatusSubject,
  signal: AbortSignal,
): Promise<Status> {
  if (daemon !== undefined) return askDaemon(daemon);
  const absent = { running: false, ready: false, figures: undefined };
  if (access === undefined) {
    const problem = `No daemon works on ${directory ?? "the store"}: start it with "provender serve" or its service.`;
    return { ...absent, problems: [problem] };
  }
  try {
    const answer = await askMirror(access, "../readyz", signal);
    const metrics = await askMirror(access, "../metrics", signal);
    const ready = isReady(answer.document);
    if (!ready && answer.code === undefined) {
      const problem = `What answers at ${access.base.origin} is no mirror: correct the name and the port.`;
      return { ...absent, problems: [problem] };
    }
    const isTold = metrics.code === undefined && metrics.document === undefined;
    return {
      running: true,
      ready,
      problems: [...answer.errors, ...metrics.errors],
      figures: isTold ? readFigures(metrics.body) : undefined,
    };
  } catch (error) {
    const { found, remedy } = explainFailure(access.base, error);
    return { ...absent, problems: [`${found} ${remedy ?? ""}`] };
  }
}

async function askDaemon(daemon: AskedDaemon): Promise<Status> {
  const problems = await daemon.checkReady().then(
    () => [],
    (error: unknown) => [(error as Error).message],
  );
  const figures = readFigures(await daemon.renderMetrics());
  return { running: true, ready: problems.length === 0, problems, figures };
}

function isReady(document: unknown): boolean {
  return readiness.safeParse(document).success;
}

const readiness = z.object({ status: z.literal("ready") });

function readFigures(exposition: string) {
  const samples = parseExposition(exposition);
  const build = samples.find(({ name }) => name === "provender_build_info");
  const started = valueOf(samples, "provender_start_time_seconds");
  const figure = (name: string) =>
    valueOf(samples, `provender_${name}`) ?? null;
  const by = (name: string, key: string) =>
    valuesBy(samples, `provender_${name}`, key);
  const successes = by("origin_last_success_timestamp_seconds", "origin");
  const lastAlarms = by("alarm_last_timestamp_seconds", "kind");
  const requests = samples.filter(
    ({ name }) => name === "provender_origin_requests_total",
  );
  return {
    release: build?.labels.version ?? null,
    startedAt: started === undefined ? null : momentOf(started),
    store: {
      archives: figure("store_archives"),
      bytes: figure("store_bytes"),
      recordBytes: figure("store_record_bytes"),
      freeBytes: figure("store_free_bytes"),
    },
    origins: [...successes].map(([origin, last]) => ({
      origin,
      lastSuccess: momentOf(last),
      requests: Object.fromEntries(
        requests
          .filter(({ labels }) => labels.origin === origin)
          .map(({ labels, value }) => [labels.result ?? "", value]),
      ),
    })),
    suspendedHosts: figure("origin_hosts_suspended"),
    alarms: [...by("alarms_total", "kind")]
      .filter(([, count]) => count > 0)
      .map(([kind, count]) => ({
        kind,
        count,
        last: momentOf(lastAlarms.get(kind) ?? 0),
      })),
  };
}

/** null for what did not happen yet. */
function momentOf(seconds: number): string | null {
  return seconds === 0 ? null : new Date(seconds * 1000).toISOString();
}

function formatJson(subject: StatusSubject, status: Status): string {
  const { url = null, pid = null, directory = null } = subject;
  const { figures, running, ready, problems } = status;
  const { policyMode = null } = subject;
  const place = { url, pid, directory, policyMode };
  const audit = subject.audit.map(({ log, size, sha256 }) => ({
    ...{ log, lines: size, head: sha256 },
  }));
  const unknown = {
    ...{ release: null, startedAt: null, store: null },
    ...{ origins: [], suspendedHosts: null, alarms: [] },
  };
  const shown = figures ?? unknown;
  return formatDocument({
    running,
    ready,
    problems,
    ...place,
    audit,
    ...shown,
  });
}

function formatText(subject: StatusSubject, status: Status): string {
  const { url, pid, directory, policyMode } = subject;
  const { figures, running, ready, problems } = status;
  const state = ready
    ? "ready"
    : running
      ? "running, not ready"
      : "not running";
  const store = figures?.store;
  const size = `${store?.archives ?? "?"} archives (${amount(store?.bytes)}), records ${amount(store?.recordBytes)}, ${amount(store?.freeBytes)} free`;
  const rows = [
    ["state", state],
    ["address", url ?? ""],
    ["process", pid === undefined ? "" : String(pid)],
    ["release", figures?.release ?? ""],
    ["since", figures?.startedAt ?? ""],
    ["directory", directory ?? ""],
    ["policy", policyMode ?? ""],
    ["store", figures === undefined ? "" : size],
    ...subject.audit.map(({ log, size, sha256 }) => [
      log,
      `${size} lines, head ${sha256}`,
    ]),
  ].filter(([, value]) => value !== "");
  return [
    formatRows(rows),
    ...problems.map((problem) => `${problem}\n`),
    figures === undefined ? "" : formatFigures(figures),
  ].join("");
}

function formatFigures({ origins, suspendedHosts, alarms }: Figures): string {
  const asked = origins.map(({ origin, lastSuccess, requests }) => [
    origin,
    lastSuccess ?? "-",
    Object.entries(requests)
      .filter(([, count]) => count > 0)
      .map(([result, count]) => `${count} ${result}`)
      .join(", "),
  ]);
  const raised = alarms.map(({ kind, count, last }) => [
    kind,
    String(count),
    last ?? "-",
  ]);
  const suspended = suspendedHosts ?? 0;
  const sections = [
    [["ORIGIN", "LAST SUCCESS", "REQUESTS"], ...asked],
    [["ALARM", "COUNT", "LAST"], ...raised],
  ];
  const spared =
    suspended > 0
      ? `${suspended} hosts of origins are spared now because they fail or asked for it.\n`
      : "";
  const quiet = raised.length === 0 ? "No alarm since the start.\n" : "";
  return sections.map(formatTable).join("") + spared + quiet;
}

function amount(bytes: number | null | undefined): string {
  return typeof bytes === "number" ? formatAmount(bytes) : "?";
}
