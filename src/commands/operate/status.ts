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
interface Status {
  readonly running: boolean;
  readonly ready: boolean;
  /** Reasons why it is not running, not ready, or without figures. */
  readonly problems: readonly string[];
  /** What a person has to do something about. */
  readonly needs: readonly Need[];
  readonly figures: Figures | undefined;
}

interface Need {
  readonly what:
    "disk" | "reload" | "decisions" | "origins" | "certificate" | "token";
  readonly sentence: string;
  readonly command: string;
}

/** `provender status`: returns the exit status, 1 when the mirror is not ready or something needs a person. */
export function printStatus(
  subject: StatusSubject,
  status: Status,
  json: boolean,
  stdout: (text: string) => void,
): number {
  stdout(json ? formatJson(subject, status) : formatText(subject, status));
  return status.ready && status.needs.length === 0 ? 0 : 1;
}

/** Status of a mirror that does not run, or does not answer. */
export function notRunning(problem: string): Status {
  const problems = [problem];
  const figures = undefined;
  return { running: false, ready: false, problems, needs: [], figures };
}

/** Milliseconds before something expires in which a person is told. */
const warned = 14 * 24 * 60 * 60 * 1000;

/** What needs a person, by the metrics of a daemon that keeps `minFree` bytes of its disk free, and whose file may be wrong now. */
export function findNeeds(
  samples: readonly Sample[],
  minFree: number,
  now: Date,
  isFileWrong = false,
): readonly Need[] {
  const values = (name: string) =>
    samples
      .filter((one) => one.name === `provender_${name}`)
      .map(({ value }) => value);
  const sum = (name: string) => values(name).reduce((all, one) => all + one, 0);
  const count = (many: number, one: string, more: string) =>
    many === 1 ? `1 ${one}` : `${many} ${more}`;
  const needs: Need[] = [];
  const need = (what: Need["what"], sentence: string, command: string) =>
    needs.push({ what, sentence, command });
  for (const free of values("store_free_bytes"))
    if (free < minFree)
      need(
        "disk",
        `The disk has ${formatAmount(free)} free, less than storage.minFree (${formatAmount(minFree)}), so archives leave for new ones, or those are refused`,
        "provender doctor",
      );
  if (isFileWrong || values("config_last_reload_successful").includes(0))
    need(
      "reload",
      "The last reload failed, or the next one would, and the configuration before is in use",
      "provender config",
    );
  const pending = sum("pending_decisions");
  if (pending > 0)
    need(
      "decisions",
      `${count(pending, "release waits", "releases wait")} for a decision`,
      "provender trust list",
    );
  const undone = sum("undone_decisions");
  if (undone > 0)
    need(
      "decisions",
      `An older backup took ${count(undone, "decision", "decisions")} back`,
      "provender trust list",
    );
  const suspended = sum("origin_hosts_suspended");
  if (suspended > 0)
    need(
      "origins",
      `${count(suspended, "host of origins fails or asks", "hosts of origins fail or ask")} not to be asked`,
      "provender doctor",
    );
  const expiring = [
    ["certificate", "The certificate", "provender doctor"],
    ["token", "A client's token", "provender token NAME"],
  ] as const;
  for (const [what, subject, command] of expiring)
    for (const end of values(`${what}_expiry_timestamp_seconds`))
      if (end > 0 && end * 1000 - now.getTime() < warned)
        need(what, `${subject} expires at ${momentOf(end)}`, command);
  return needs;
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
  const { figures, running, ready, problems, needs } = status;
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
    needs,
    ...place,
    ...shown,
  });
}

function formatText(subject: StatusSubject, status: Status): string {
  const { url, pid, directory, policyMode } = subject;
  const { figures, running, ready, problems, needs } = status;
  const condition = ready
    ? "ready"
    : running
      ? "running, not ready"
      : "not running";
  const state = [
    condition,
    ...(pid === undefined ? [] : [`process ${pid}`]),
    ...(figures?.startedAt ? [`since ${figures.startedAt}`] : []),
  ].join(", ");
  const store = figures?.store;
  const size = `${store?.archives ?? "?"} archives (${amount(store?.bytes)}), records ${amount(store?.recordBytes)}, ${amount(store?.freeBytes)} free`;
  const rows = [
    ["state", state],
    ["address", url ?? ""],
    ["release", figures?.release ?? ""],
    ["directory", directory ?? ""],
    ["policy", policyMode ?? ""],
    ["store", figures === undefined ? "" : size],
  ].filter(([, value]) => value !== "");
  return [
    ...problems.map((problem) => `${problem}\n`),
    ...needs.map(({ sentence, command }) => `${sentence}: ${command}\n`),
    formatRows(rows),
    figures === undefined ? "" : formatFigures(figures),
  ].join("");
}

/** Rows of a table that people see; --json has all. */
const mostOrigins = 5;
const mostAlarms = 3;

function formatFigures({ origins, alarms }: Figures): string {
  const asked = origins
    .slice(0, mostOrigins)
    .map(({ origin, lastSuccess, requests }) => [
      origin,
      lastSuccess ?? "-",
      Object.entries(requests)
        .filter(([, count]) => count > 0)
        .map(([result, count]) => `${count} ${result}`)
        .join(", "),
    ]);
  const latest = alarms.toSorted((a, b) =>
    (b.last ?? "").localeCompare(a.last ?? ""),
  );
  const raised = latest
    .slice(0, mostAlarms)
    .map(({ kind, count, last }) => [kind, String(count), last ?? "-"]);
  const more = [
    ...(origins.length > mostOrigins
      ? [`${origins.length - mostOrigins} more origins`]
      : []),
    ...(alarms.length > mostAlarms
      ? [`${alarms.length - mostAlarms} more kinds of alarms`]
      : []),
  ].join(" and ");
  const sections = [
    [["ORIGIN", "LAST SUCCESS", "REQUESTS"], ...asked],
    [["ALARM", "COUNT", "LAST"], ...raised],
  ];
  const rest = more === "" ? "" : `${more} are in "provender status --json".\n`;
  const quiet = raised.length === 0 ? "No alarm since the start.\n" : "";
  return sections.map(formatTable).join("") + rest + quiet;
}

function amount(bytes: number | null | undefined): string {
  return typeof bytes === "number" ? formatAmount(bytes) : "?";
}
