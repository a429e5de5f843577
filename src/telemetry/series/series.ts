import { Counter, Gauge, Histogram, Registry } from "prom-client";
import type { Definition } from "./definition.ts";
import {
  definitions,
  type CounterName,
  type GaugeName,
  type HistogramName,
  type MetricName,
} from "./definitions.ts";

/** A number, or one for each value of the metric's only label; what is undefined is NaN. */
type Reading = number | undefined | Readonly<Record<string, number>>;

/** Asked at each exposition. */
export type Reader = () => Reading | Promise<Reading>;

/** One series. */
export interface Sample {
  readonly labels: Readonly<Partial<Record<string, string | number>>>;
  readonly value: number;
}

/** Every metric of `definitions`, with the series that are there before anything happens. */
export class Series {
  readonly #registry = new Registry();
  readonly #counters = new Map<MetricName, Counter>();
  readonly #gauges = new Map<MetricName, Gauge>();
  readonly #histograms = new Map<MetricName, Histogram>();
  readonly #readers = new Map<MetricName, Reader>();

  constructor() {
    for (const [name, definition] of Object.entries(definitions))
      this.#define(name as MetricName, definition);
  }

  counter(name: CounterName): Counter {
    return found(this.#counters.get(name));
  }

  gauge(name: GaugeName): Gauge {
    return found(this.#gauges.get(name));
  }

  histogram(name: HistogramName): Histogram {
    return found(this.#histograms.get(name));
  }

  /** The metric is what `read` says from now on. */
  watch(name: MetricName, read: Reader): void {
    this.#readers.set(name, read);
  }

  async read(name: GaugeName | CounterName): Promise<readonly Sample[]> {
    const metric = this.#gauges.get(name) ?? this.#counters.get(name);
    return (await found(metric).get()).values;
  }

  async render(): Promise<{ readonly type: string; readonly text: string }> {
    const text = await this.#registry.metrics();
    return { type: this.#registry.contentType, text };
  }

  #define(name: MetricName, definition: Definition): void {
    const { type, labels = {}, buckets = [], ...rest } = definition;
    const labelNames = Object.keys(labels);
    const settings = { ...rest, labelNames, registers: [this.#registry] };
    const look = this.#look.bind(this, name);
    if (type === "histogram") {
      const histogram = new Histogram({ ...settings, buckets: [...buckets] });
      this.#histograms.set(name, histogram);
      return;
    }
    const metric =
      type === "counter"
        ? new Counter({ ...settings, collect: look })
        : new Gauge({ ...settings, collect: look });
    if (metric instanceof Counter) this.#counters.set(name, metric);
    else this.#gauges.set(name, metric);
    // A series that begins with its first event shows no increase by it.
    for (const [label, values] of Object.entries(labels))
      if (typeof values !== "string")
        for (const value of values) metric.inc({ [label]: value }, 0);
  }

  async #look(name: MetricName): Promise<void> {
    const read = this.#readers.get(name);
    if (read === undefined) return;
    const value = (await read()) ?? NaN;
    if (typeof value === "object") {
      for (const [labelled, one] of Object.entries(value))
        this.#gauges.get(name)?.labels(labelled).set(one);
      return;
    }
    this.#gauges.get(name)?.set(value);
    const counter = this.#counters.get(name);
    counter?.reset();
    counter?.inc(value);
  }
}

function found<T>(metric: T | undefined): T {
  if (metric === undefined) throw new Error("a metric has another type");
  return metric;
}
