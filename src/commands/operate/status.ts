import { readFileSync } from "node:fs";
import { isIPv6 } from "node:net";
import { Agent, request } from "undici";
import * as z from "zod";
import { type Configuration, loadUsable } from "../../config/load.ts";
import { isEveryAddress } from "../../server/tls/certificate-source.ts";
import { layOutStore } from "../../store/layout.ts";
import { actAsOwner } from "../../store/storage-directory.ts";
import { parseSamples, type Sample } from "../../telemetry/samples.ts";
import type { Flags } from "../command.ts";
import { readLocalAuthority } from "../named-mirror.ts";
import { formatDocument, stdout } from "../output/report.ts";
import { formatAmount, formatRows, formatTable } from "../output/table.ts";

/** What a daemon leaves in its storage directory while it runs. */
const announced = z.object({
  pid: z.int(),
  url: z.url(),
  token: z.string(),
});

const readinessAnswer = z
  .object({ status: z.string(), errors: z.array(z.string()) })
  .partial();

/** Bytes of an answer; that of a mirror of many origins has some hundred thousand. */
const largestAnswer = 16 * 1024 * 1024;
/** Milliseconds that the daemon has for one answer. */
const patience = 8_000;

/** Status as `--json` shows it. */
interface Status extends Figures {
  readonly running: boolean;
  readonly ready: boolean;
  /** Reasons why it is not running, not ready, or without figures. */
  readonly problems: readonly string[];
  /** What a person has to do something about. */
  readonly needs: readonly Need[];
  /** For clients. */
  readonly url: string | null;
  readonly pid: number | null;
  readonly directory: string;
  readonly policyMode: string | null;
}

type Figures = ReturnType<typeof readFigures>;

interface Need {
  readonly what:
    "disk" | "reload" | "decisions" | "origins" | "certificate" | "token";
  readonly sentence: string;
  readonly command: string;
}

/**
 * `provender status`: asks the daemon of the storage directory for `/readyz` and `/metrics`. Returns 1 when the mirror is
 * not ready or something needs a person.
 */
export async function status({ config, json = false }: Flags): Promise<number> {
  const { configuration, problem } = loadUsable({ file: config });
  const { directory, minFree } = configuration.storage;
  const layout = layOutStore(directory);
  actAsOwner(layout);
  const policyMode = problem ? null : configuration.policy.mode;
  const show = (found: Status) => {
    stdout(json ? formatDocument(found) : formatStatus(found));
    return found.ready && found.needs.length === 0 ? 0 : 1;
  };
  const showNone = (reason: string) => {
    if (problem !== undefined) throw problem;
    return show({
      ...{ running: false, ready: false, problems: [reason], needs: [] },
      ...{ url: null, pid: null, directory, policyMode, ...readFigures([]) },
    });
  };
  const absent = `No daemon works on ${directory}: start it with "provender serve" or its service.`;
  const found = parse(announced, () => readFileSync(layout.daemon, "utf8"));
  if (found === undefined) return showNone(absent);
  const { url, pid } = found;
  const ask = (path: string) => askDaemon(configuration, found, path);
  try {
    const readiness = await ask("/readyz");
    const samples = parseSamples(await ask("/metrics"));
    const { status, errors = [readiness.slice(0, 200)] } =
      parse(readinessAnswer, () => readiness) ?? {};
    const ready = status === "ready";
    const problems = ready ? [] : errors;
    const needs = findNeeds(samples, minFree, new Date(), !!problem);
    return show({
      ...{ running: true, ready, problems, needs },
      ...{ url, pid, directory, policyMode, ...readFigures(samples) },
    });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    // A daemon that was killed leaves its announcement.
    return showNone(
      code === "ECONNREFUSED"
        ? absent
        : `The daemon at ${url}, process ${pid}, does not answer (${message}): look at its log.`,
    );
  }
}

/** Asks on this machine, whatever clients find behind the daemon's name. */
async function askDaemon(
  configuration: Configuration,
  { url: clients, token }: z.infer<typeof announced>,
  path: string,
): Promise<string> {
  const { host: address } = configuration.listen;
  const { host } = new URL(clients);
  const url = new URL(path, clients);
  if (isEveryAddress(address))
    url.hostname = isIPv6(address) ? "[::1]" : "127.0.0.1";
  const authority = readLocalAuthority(configuration);
  // What is configured here proves the daemon, under whatever names clients know it.
  const connect = authority && {
    ca: [authority],
    allowPartialTrustChain: true,
    checkServerIdentity: () => undefined,
  };
  const dispatcher = new Agent({
    maxResponseSize: largestAnswer,
    ...(connect && { connect }),
  });
  try {
    const { body } = await request(url, {
      dispatcher,
      headers: { host, authorization: `Bearer ${token}` },
      signal: AbortSignal.timeout(patience),
    });
    return await body.text();
  } finally {
    await dispatcher.destroy();
  }
}

/** Undefined for a text in another form, and for none. */
function parse<T>(shape: z.ZodType<T>, read: () => string): T | undefined {
  try {
    return shape.parse(JSON.parse(read()));
  } catch {
    return undefined;
  }
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
    seriesOf(samples, name).map(({ value }) => value);
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

function seriesOf(samples: readonly Sample[], name: string) {
  return samples.filter((one) => one.name === `provender_${name}`);
}

/** The figures of a status by the metrics of a daemon; without any, nothing is known. */
export function readFigures(samples: readonly Sample[]) {
  const of = (name: string) => seriesOf(samples, name);
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
    store:
      samples.length === 0
        ? null
        : {
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

/** The status for people: what needs them first. */
export function formatStatus(status: Status): string {
  const { running, ready, problems, needs, startedAt, store } = status;
  const unready = running ? "running, not ready" : "not running";
  const state = [
    ready ? "ready" : unready,
    status.pid !== null && `process ${status.pid}`,
    startedAt !== null && `since ${startedAt}`,
  ].filter(Boolean);
  const rows = [
    ["state", state.join(", ")],
    ["address", status.url ?? ""],
    ["release", status.release ?? ""],
    ["directory", status.directory],
    ["policy", status.policyMode ?? ""],
  ].filter(([, value]) => value !== "");
  if (store !== null)
    rows.push([
      "store",
      `${store.archives ?? "?"} archives (${amount(store.bytes)}), records ${amount(store.recordBytes)}, ${amount(store.freeBytes)} free`,
    ]);
  return [
    ...problems.map((problem) => `${problem}\n`),
    ...needs.map(({ sentence, command }) => `${sentence}: ${command}\n`),
    formatRows(rows),
    store === null ? "" : formatFigures(status),
  ].join("");
}

function formatFigures({ origins, alarms }: Figures): string {
  const asked = origins.map(({ origin, lastSuccess, requests }) => [
    origin,
    lastSuccess ?? "-",
    Object.entries(requests)
      .filter(([, count]) => count > 0)
      .map(([result, count]) => `${count} ${result}`)
      .join(", "),
  ]);
  const raised = alarms
    .toSorted((a, b) => (b.last ?? "").localeCompare(a.last ?? ""))
    .map(({ kind, count, last }) => [kind, String(count), last ?? "-"]);
  return [
    formatTable([["ORIGIN", "LAST SUCCESS", "REQUESTS"], ...asked]),
    formatTable([["ALARM", "COUNT", "LAST"], ...raised]),
    raised.length === 0 ? "No alarm since the start.\n" : "",
  ].join("");
}

function amount(bytes: number | null): string {
  return bytes === null ? "?" : formatAmount(bytes);
}
