import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { collectDefaultMetrics, Registry } from "prom-client";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { Metrics } from "../../src/telemetry/metrics.ts";
import { scratch } from "../running-mirror.ts";
import { has, run } from "./release.ts";

const monitoring = join(
  import.meta.dirname,
  ...["..", "..", "packaging", "monitoring"],
);
const rulesFile = join(monitoring, "alerts.yaml");

const { groups } = parse(readFileSync(rulesFile, "utf8")) as {
  readonly groups: readonly {
    readonly rules: readonly { readonly alert: string }[];
  }[];
};
const alertNames = groups.flatMap(({ rules }) => rules.map((one) => one.alert));

const canTest = has("promtool", "the alert rules");

/** One event after two of three hours; a value is scraped once in five minutes. */
const rises = "0+0x24 1+0x12";
/** A time in so many days, in seconds since the test's start. */
const inDays = (days: number) => `${7_500 + days * 86_400}+0x36`;
const asked = (result: string) =>
  `provender_origin_requests_total{origin="o",result="${result}"}`;
const answered = (outcome: string) =>
  `provender_requests_total{outcome="${outcome}",status="200"}`;
const within = (le: string) =>
  `provender_request_seconds_bucket{kind="index",outcome="hit",le="${le}"}`;

/** By rule: what makes it fire | what does not; an alarm is named by its kind. */
const cases = new Map(
  `
ProvenderDown: up 0+0x36 | up 1+0x36
ProvenderTampering: archive-tampered | key-new
ProvenderSigningKey: key-refused | release-replaced
ProvenderOriginInconsistent: versions-vanished | key-new
ProvenderStoreDamaged: record-unreadable | audit-lost
ProvenderDatabaseFailing: database-failing | audit-lost
ProvenderBucketFailing: bucket-failing | audit-lost
ProvenderAuditLost: provender_audit_failures_total ${rises} | archive-damaged
ProvenderUnexpectedError: unexpected-error | audit-lost
ProvenderPendingDecisions: provender_pending_decisions{reason="unknown"} 1+0x300 | provender_pending_decisions{reason="unknown"} 0+0x300
ProvenderOriginFailing: ${asked("timeout")} 0+6x36, ${asked("ok")} 0+1x36 | ${asked("timeout")} 0+1x36, ${asked("not-found")} 0+6x36
ProvenderStaleAnswers: provender_stale_answers_total 0+1x36 | provender_stale_answers_total 5+0x36
ProvenderFailing: ${answered("failed")} 0+1x36, ${answered("hit")} 0+9x36 | ${answered("refused")} 0+9x36, ${answered("hit")} 0+9x36
ProvenderSlow: ${within("0.5")} 0+1x36, ${within("1")} 0+9x36, ${within("+Inf")} 0+9x36 | ${within("0.01")} 0+9x36, ${within("+Inf")} 0+9x36
ProvenderDownloadsWait: provender_fills_waiting 1+0x36 | provender_fills_waiting 0+0x36
ProvenderStoreFull: provender_failures_total{code="store-full"} ${rises} | provender_archives_total{outcome="evicted"} ${rises}
ProvenderReloadFailed: provender_config_last_reload_successful 0+0x36 | provender_config_last_reload_successful 1+0x36
ProvenderCertificateExpires: ${expires("certificate", 13)} | ${expires("certificate", 16)}, ${expires("certificate", NaN)}
ProvenderTokenExpires: ${expires("token", 13)} | ${expires("token", 16)}, ${expires("token", NaN)}
ProvenderDescriptors: process_open_fds 90+0x36, process_max_fds 100+0x36 | process_open_fds 70+0x36, process_max_fds 100+0x36
`
    .matchAll(/^(\w+): (.*) \| (.*)$/gm)
    .map(([, rule = "", fires = "", quiet = ""]) => [rule, { fires, quiet }]),
);

function expires(what: string, days: number): string {
  const name = `provender_${what}_expiry_timestamp_seconds`;
  return Number.isNaN(days)
    ? `${name}{instance="never"} NaN+0x36`
    : `${name} ${inDays(days)}`;
}

/** A series of the daemon as promtool reads it. */
function parseSeries(text: string) {
  const written = /^[a-z-]+$/.test(text)
    ? `provender_alarms_total{kind="${text}"} ${rises}`
    : text;
  const [, name = "", own = "", values = ""] =
    /^(\w+)(?:\{(.*)\})? (.*)$/.exec(written) ?? [];
  const instance = own.includes("instance=") ? "" : 'instance="a"';
  const labels = [own, 'job="provender"', instance].filter(Boolean).join();
  return { series: `${name}{${labels}}`, values };
}

it("have a case for every rule", () => {
  expect([...cases.keys()]).toEqual(alertNames);
});

it("speak of metrics that there are, as the dashboard does", () => {
  const register = new Registry();
  collectDefaultMetrics({ register });
  const names = new Set<string>(
    [...new Metrics("").described, ...register.getMetricsAsArray()].map(
      ({ name }) => name,
    ),
  );
  const text = [rulesFile, join(monitoring, "dashboard.json")]
    .map((file) => readFileSync(file, "utf8"))
    .join();
  const spoken = text.match(/\b(?:provender|process|nodejs)_\w+/g) ?? [];
  for (const name of spoken)
    expect(names).toContain(name.replace(/_(?:bucket|count|sum)$/, ""));
});

describe.skipIf(!canTest)("the alert rules", () => {
  it("are good for Prometheus", async () => {
    await run("promtool", ["check", "rules", rulesFile]);
  });

  it("fire each for its own reason, and not for another", async () => {
    const tests = [...cases].flatMap(([rule, { fires, quiet }]) =>
      [fires, quiet].map((series) => ({
        interval: "5m",
        input_series: series.split(/, (?=p)/).map(parseSeries),
        promql_expr_test: [
          {
            expr: `count(ALERTS{alertstate="firing",alertname="${rule}"})`,
            eval_time: rule === "ProvenderPendingDecisions" ? "1450m" : "125m",
            exp_samples: series === fires ? [{ labels: "{}", value: 1 }] : [],
          },
        ],
      })),
    );
    const file = join(scratch("rules"), "tests.yaml");
    const document = {
      rule_files: [rulesFile],
      evaluation_interval: "5m",
      tests,
    };
    writeFileSync(file, JSON.stringify(document));
    await run("promtool", ["test", "rules", file]);
  });
});
