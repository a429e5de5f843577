import { definitions } from "../src/telemetry/series/definitions.ts";
import type { Definition } from "../src/telemetry/series/definition.ts";
import { makeFile } from "./made-file.ts";

const head = `# Metrics

\`/metrics\` has these, in the text format of Prometheus. Names, labels and their values stay; more may come. No client chooses
the value of a label. Counters whose labels have known values are 0 from the start, so that \`increase()\` sees the first event.

This page is made from the code by \`node packaging/metrics-page.ts\`.
[packaging/monitoring](../packaging/monitoring) has alert rules and a dashboard.
`;

/** docs/metrics.md. */
export const metricsPage = await makeFile(
  "docs/metrics.md",
  import.meta,
  `${head}\n${Object.values(definitions).map(describe).join("\n")}\n`,
);

function describe({ name, type, help, labels = {} }: Definition): string {
  const named = Object.entries(labels).map(
    ([label, values]) =>
      `; \`${label}\`: ${typeof values === "string" ? values : values.join(", ")}`,
  );
  return `- \`${name}\` (${type}${named.join("")}): ${help}`;
}
