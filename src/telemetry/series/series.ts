import { Counter, Gauge, Histogram, type Registry } from "prom-client";
import type { Definition } from "./definition.ts";
import { definitions, type MetricName } from "./definitions.ts";

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
