import { readFileSync } from "node:fs";
import { makeFile } from "./made-file.ts";

const alerts = readFileSync(
  new URL("monitoring/alerts.yaml", import.meta.url),
  "utf8",
);

/** The alert rules as the Prometheus operator takes them. */
export const prometheusRule = await makeFile(
  "packaging/kustomize/base/prometheus-rule.yaml",
  import.meta,
  `# Made from packaging/monitoring/alerts.yaml by \`node packaging/prometheus-rule.ts\`.
# For the Prometheus operator; remove it from kustomization.yaml where that is not installed.
apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata:
  name: provender
spec:
${alerts.replaceAll(/^(?=.)/gm, "  ")}`,
);
