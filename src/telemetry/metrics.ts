import type { CounterName, GaugeName, LabelsOf } from "./series/definitions.ts";
import {
  knownGetters,
  originResults,
  type AlarmKind,
  type OriginResult,
  type RequestKind,
} from "./series/labels.ts";
import { readProcess } from "./series/process.ts";
import { Series, type Reader, type Sample } from "./series/series.ts";

export { alarmKinds, type AlarmKind } from "./series/labels.ts";

/** Stored amounts, and the free bytes of the disk. */
export interface StoreUse {
  readonly archives: number;
  readonly bytes: number;
  readonly recordBytes: number;
  readonly freeBytes: number;
}

/** Result of one request. */
interface CountedRequest {
  readonly kind: RequestKind;
  readonly outcome: string;
  readonly status: number;
  readonly milliseconds: number;
  readonly bytes: number;
  /** Code of the error that was answered. */
  readonly code?: string | undefined;
}

/** The numbers of one process, in the text format of Prometheus. */
export class Metrics {
  readonly #series = new Series();
  readonly #waiting: (() => number)[] = [];

  constructor(startedAt: Date) {
    const started = startedAt.getTime() / 1000;
    this.#series.gauge("started").set(started);
    this.#series.gauge("reloaded").set(1);
    this.#series.gauge("reloadTime").set(started);
    this.#series.gauge("certificateExpiry").set(NaN);
    const { cpuSeconds, ...gauges } = readProcess(startedAt);
    this.#series.watch("cpuSeconds", cpuSeconds);
    this.watch(gauges);
    this.watch({
      waiters: () => this.#waiting.reduce((sum, count) => sum + count(), 0),
    });
  }

  /** Publishes the version of the program. */
  showBuild(version: string): void {
    const node = process.versions.node;
    this.#series.gauge("buildInfo").set({ version, node }, 1);
  }

  /** Counts an event once, or `by` times. */
  count<N extends CounterName>(name: N, labels: LabelsOf<N>, by = 1): void {
    this.#series.counter(name).inc(labels, by);
  }

  /** Error codes that may be answered; a series that begins with its first event shows no increase by it. */
  expectCodes(of: "refusals" | "failures", codes: readonly string[]): void {
    for (const code of codes) this.#series.counter(of).inc({ code }, 0);
  }

  countRequest(request: CountedRequest): void {
    const { kind, outcome, status, milliseconds, bytes, code } = request;
    this.#series.counter("requests").inc({ outcome, status });
    this.#series.counter("sentBytes").inc({ outcome }, bytes);
    if (outcome === "stale" && status < 400)
      this.#series.counter("staleAnswers").inc();
    this.#series
      .histogram("requestSeconds")
      .observe({ kind, outcome }, milliseconds / 1000);
    if (code === undefined) return;
    if (outcome === "refused") this.#series.counter("refusals").inc({ code });
    if (outcome === "failed") this.#series.counter("failures").inc({ code });
  }

  countReload(result: "applied" | "failed"): void {
    this.#series.counter("reloads").inc({ result });
    this.#series.gauge("reloaded").set(result === "applied" ? 1 : 0);
    this.#series.gauge("reloadTime").setToCurrentTime();
  }

  /** `getter` is what a registry wrote, so that only known words become labels. */
  countPassedThrough(getter: string): void {
    const [word = ""] = /^\w*/.exec(getter) ?? [];
    const known = knownGetters.find((one) => one === word) ?? "other";
    this.#series.counter("passedThrough").inc({ getter: known });
  }

  countAlarm(kind: AlarmKind): void {
    this.#series.counter("alarms").inc({ kind });
    this.#series.gauge("alarmTimes").setToCurrentTime({ kind });
  }

  /** The series of a configured origin, before it was asked. */
  expectOrigin(origin: string): void {
    for (const result of originResults)
      this.#series.counter("originRequests").inc({ origin, result }, 0);
    for (const name of [
      "originBytes",
      "originRetries",
      "archiveResumes",
    ] as const)
      this.#series.counter(name).inc({ origin }, 0);
    this.#series.histogram("originSeconds").zero({ origin });
    this.#series.gauge("originLastSuccess").set({ origin }, 0);
  }

  countOriginRequest(
    origin: string,
    result: OriginResult,
    milliseconds: number,
  ): void {
    this.#series.counter("originRequests").inc({ origin, result });
    this.#series
      .histogram("originSeconds")
      .observe({ origin }, milliseconds / 1000);
    if (result === "ok")
      this.#series.gauge("originLastSuccess").setToCurrentTime({ origin });
  }

  /** Publishes the number of suspended hosts. */
  showSuspended(hosts: number): void {
    this.#series.gauge("originSuspended").set(hosts);
  }

  /** Undefined without TLS of the mirror's own. */
  showCertificate(expires: Date | undefined): void {
    const at = expires?.getTime() ?? NaN;
    this.#series.gauge("certificateExpiry").set(at / 1000);
  }

  /** Adds to `provender_waiters`; asked at each exposition. */
  watchWaiters(count: () => number): void {
    this.#waiting.push(count);
  }

  /** `read` is asked at each exposition; undefined while nothing was counted yet. */
  watchStore(read: () => Promise<StoreUse | undefined>): void {
    this.watch({
      storeArchives: async () => (await read())?.archives,
      storeBytes: async () => (await read())?.bytes,
      storeRecordBytes: async () => (await read())?.recordBytes,
      storeFreeBytes: async () => (await read())?.freeBytes,
    });
  }

  /** Gauges that are asked at each exposition; what is undefined is NaN. */
  watch(readers: Readonly<Partial<Record<GaugeName, Reader>>>): void {
    for (const [name, read] of Object.entries(readers))
      this.#series.watch(name as GaugeName, read);
  }

  /** The values of a metric now, with their labels. */
  read(name: GaugeName | CounterName): Promise<readonly Sample[]> {
    return this.#series.read(name);
  }

  /** The exposition, with its media type. */
  render(): Promise<{ readonly type: string; readonly text: string }> {
    return this.#series.render();
  }
}
