import {
  collectDefaultMetrics,
  type Counter,
  Gauge,
  Registry,
} from "prom-client";
import {
  type CounterName,
  type GaugeName,
  type LabelsOf,
  makeSeries,
  knownGetters,
  originResults,
  type AlarmKind,
  type OriginResult,
  type RequestKind,
} from "./definitions.ts";

/** A number, or one for each value of the metric's only label; undefined is NaN. */
type Reading = number | undefined | Readonly<Record<string, number>>;

/** Asked at each exposition. */
type Reader = () => Reading | Promise<Reading>;

/** One series. */
export interface Sample {
  /** Name of its metric. */
  readonly name: string;
  readonly labels: Readonly<Partial<Record<string, string | number>>>;
  readonly value: number;
}

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
  readonly #registry = new Registry();
  readonly #series = makeSeries(this.#registry);
  readonly #readers = new Map<GaugeName | CounterName, Reader>();
  readonly #waiting: (() => number)[] = [];

  constructor(startedAt: Date) {
    collectDefaultMetrics({ register: this.#registry });
    this.#series.started.set(startedAt.getTime() / 1000);
    this.#series.reloaded.set(1);
    this.#series.certificateExpiry.set(NaN);
    this.watch({
      waiters: () => this.#waiting.reduce((sum, count) => sum + count(), 0),
    });
  }

  /** Publishes the version of the program. */
  showBuild(version: string): void {
    const node = process.versions.node;
    this.#series.buildInfo.set({ version, node }, 1);
  }

  /** Counts an event once, or `by` times. */
  count<N extends CounterName>(name: N, labels: LabelsOf<N>, by = 1): void {
    const counter: Counter = this.#series[name];
    counter.inc(labels, by);
  }

  /** Error codes that may be answered; a series that begins with its first event shows no increase by it. */
  expectCodes(of: "refusals" | "failures", codes: readonly string[]): void {
    for (const code of codes) this.#series[of].inc({ code }, 0);
  }

  countRequest(request: CountedRequest): void {
    const { kind, outcome, status, milliseconds, bytes, code } = request;
    this.#series.requests.inc({ outcome, status });
    this.#series.sentBytes.inc({ outcome }, bytes);
    if (outcome === "stale" && status < 400) this.#series.staleAnswers.inc();
    this.#series.requestSeconds.observe({ kind, outcome }, milliseconds / 1000);
    if (code === undefined) return;
    if (outcome === "refused") this.#series.refusals.inc({ code });
    if (outcome === "failed") this.#series.failures.inc({ code });
  }

  countReload(result: "applied" | "failed"): void {
    this.#series.reloads.inc({ result });
    this.#series.reloaded.set(result === "applied" ? 1 : 0);
  }

  /** `getter` is what a registry wrote, so that only known words become labels. */
  countPassedThrough(getter: string): void {
    const [word = ""] = /^\w*/.exec(getter) ?? [];
    const known = knownGetters.find((one) => one === word) ?? "other";
    this.#series.passedThrough.inc({ getter: known });
  }

  countAlarm(kind: AlarmKind): void {
    this.#series.alarms.inc({ kind });
    this.#series.alarmTimes.setToCurrentTime({ kind });
  }

  /** The series of a configured origin, before it was asked. */
  expectOrigin(origin: string): void {
    for (const result of originResults)
      this.#series.originRequests.inc({ origin, result }, 0);
    this.#series.originBytes.inc({ origin }, 0);
    this.#series.originSeconds.zero({ origin });
    this.#series.originLastSuccess.set({ origin }, 0);
  }

  countOriginRequest(
    origin: string,
    result: OriginResult,
    milliseconds: number,
  ): void {
    this.#series.originRequests.inc({ origin, result });
    this.#series.originSeconds.observe({ origin }, milliseconds / 1000);
    if (result === "ok")
      this.#series.originLastSuccess.setToCurrentTime({ origin });
  }

  /** Publishes the number of suspended hosts. */
  showSuspended(hosts: number): void {
    this.#series.originSuspended.set(hosts);
  }

  /** Undefined without TLS of the mirror's own. */
  showCertificate(expires: Date | undefined): void {
    const at = expires?.getTime() ?? NaN;
    this.#series.certificateExpiry.set(at / 1000);
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
      this.#readers.set(name as GaugeName, read);
  }

  /** Returns the exposition, with its media type. */
  async render(): Promise<{ readonly type: string; readonly text: string }> {
    await this.#refresh();
    const text = await this.#registry.metrics();
    return { type: this.#registry.contentType, text };
  }

  /** Sets the gauges to what their readers return. */
  async #refresh(): Promise<void> {
    await Promise.all(
      [...this.#readers].map(async ([name, read]) => {
        const gauge = this.#series[name];
        if (!(gauge instanceof Gauge)) return;
        const value = (await read()) ?? NaN;
        if (typeof value === "number") gauge.set(value);
        else
          for (const [labelled, one] of Object.entries(value))
            gauge.labels(labelled).set(one);
      }),
    );
  }
}
