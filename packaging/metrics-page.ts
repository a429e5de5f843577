import { collectDefaultMetrics, Registry } from "prom-client";
import { Metrics } from "../src/telemetry/metrics.ts";
import { makeFile } from "./made-file.ts";

const head = `# Metrics

\`/metrics\` has these, in the text format of Prometheus. Names, labels and their values stay; more may come. No client chooses
the value of a label. Counters whose labels have known values are 0 from the start, so that \`increase()\` sees the first event.

This page is made from the code by \`node packaging/metrics-page.ts\`.
[packaging/monitoring](../packaging/monitoring) has alert rules and a dashboard.
`;

const processHead = `
## Of the process

Those of [prom-client](https://github.com/siimon/prom-client) for each program on Node, as far as the system has them:
`;

/** docs/metrics.md. */
export const metricsPage = await makeFile(
  "docs/metrics.md",
  import.meta,
  `${head}\n${new Metrics("").described.map(describe).join("\n")}\n${processHead}\n${listDefaults().join("\n")}\n`,
);

function listDefaults(): readonly string[] {
  const register = new Registry();
  collectDefaultMetrics({ register });
  return register.getMetricsAsArray().map(({ name }) => `- \`${name}\``);
}

function describe({
  name,
  type,
  help,
  labels,
}: Metrics["described"][number]): string {
  const named = Object.entries(labels).map(
    ([label, values]) =>
      `; \`${label}\`: ${typeof values === "string" ? values : values.join(", ")}`,
  );
  return `- \`${name}\` (${type}${named.join("")}): ${help}`;
}
