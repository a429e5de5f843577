import type { Sample } from "../../telemetry/metrics.ts";
import { formatAmount, formatRows, formatTable } from "../output/table.ts";
import { formatDocument } from "../output/report.ts";

/** A mirror; what only its own machine knows is undefined elsewhere. */
interface StatusSubject {
  /** URL for clients. */
  readonly url?: string | undefined;
  readonly pid?: number | undefined;
  readonly directory?: string;
  readonly policyMode?: string;
}

type Figures = ReturnType<typeof readFigures>;

/** Status as `status --json` shows it. */
export interface Status {
  readonly running: boolean;
  readonly ready: boolean;
  /** Reasons why it is not running, not ready, or without figures. */
  readonly problems: readonly string[];
  readonly figures: Figures | undefined;
}

/** `provender status`: returns the exit status, 1 when the mirror does not run or is not ready. */
export function printStatus(
  subject: StatusSubject,
  status: Status,
  json: boolean,
  stdout: (text: string) => void,
): number {
  stdout(json ? formatJson(subject, status) : formatText(subject, status));
  return status.ready ? 0 : 1;
}

/** Status of a mirror that does not run, or does not answer. */
export function notRunning(problem: string): Status {
  const problems = [problem];
  return { running: false, ready: false, problems, figures: undefined };
}

/** Takes the figures of a status from the metrics of a daemon. */
export function readFigures(samples: readonly Sample[]) {
  const of = (name: string) =>
    samples.filter((one) => one.name === `provender_${name}`);
  const figure = (name: string) => {
    const [{ value } = { value: NaN }] = of(name);
    return Number.isNaN(value) ? null : value;
  };
  const [build] = of("build_info");
  const requests = of("origin_requests_total");
  const lastAlarms = of("alarm_last_timestamp_seconds");
  return {
    release: build === undefined ? null : String(build.labels.version),
    startedAt: momentOf(figure("start_time_seconds") ?? 0),
    store: {
      archives: figure("store_archives"),
      bytes: figure("store_bytes"),
      recordBytes: figure("store_record_bytes"),
      freeBytes: figure("store_free_bytes"),
    },
    origins: of("origin_last_success_timestamp_seconds").map(
      ({ labels: { origin }, value }) => ({
        origin: String(origin),
        lastSuccess: momentOf(value),
        requests: Object.fromEntries(
          requests
            .filter(({ labels }) => labels.origin === origin)
            .map(({ labels, value }) => [labels.result, value] as const),
        ) as Readonly<Record<string, number>>,
      }),
    ),
    suspendedHosts: figure("origin_hosts_suspended"),
    alarms: of("alarms_total")
      .filter(({ value }) => value > 0)
      .map(({ labels: { kind }, value: count }) => ({
        kind: String(kind),
        count,
        last: momentOf(
          lastAlarms.find(({ labels }) => labels.kind === kind)?.value ?? 0,
        ),
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
