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

const rises = "0+0x24 1+0x12";
const job = 'job="provender",instance="a"';
const alarm = (kind: string) => `provender_alarms_total{kind="${kind}",${job}}`;
const requests = (outcome: string) =>
  `provender_requests_total{outcome="${outcome}",status="200",${job}}`;
const asked = (result: string) =>
  `provender_origin_requests_total{origin="o",result="${result}",${job}}`;
const pending = `provender_pending_decisions{reason="unknown",${job}}`;
const bucket = (le: string) =>
  `provender_request_seconds_bucket{kind="index",outcome="hit",le="${le}",${job}}`;
/** Makes a series whose value is a time, in seconds since the test's start. */
const inDays = (days: number) => `${7_500 + days * 86_400}+0x36`;
const steady = (name: string, value: number) => ({
  [`${name}{${job}}`]: `${value}+0x36`,
});

type Scrapes = Readonly<Record<string, string>>;

/** By rule: what makes it fire, and what does not. */
const cases: Readonly<
  Record<string, { readonly fires: Scrapes; readonly quiet: Scrapes }>
> = {
  ProvenderDown: { fires: steady("up", 0), quiet: steady("up", 1) },
  ProvenderTampering: alarms("archive-tampered", "key-new"),
  ProvenderSigningKey: alarms("key-refused", "release-replaced"),
  ProvenderOriginInconsistent: alarms("versions-vanished", "key-new"),
  ProvenderStoreDamaged: alarms("record-unreadable", "audit-lost"),
  ProvenderDatabaseFailing: alarms("database-failing", "audit-lost"),
  ProvenderBucketFailing: alarms("bucket-failing", "audit-lost"),
  ProvenderAuditLost: {
    fires: { [`provender_audit_failures_total{${job}}`]: rises },
    quiet: { [alarm("archive-damaged")]: rises },
  },
  ProvenderUnexpectedError: alarms("unexpected-error", "audit-lost"),
  ProvenderPendingDecisions: {
    fires: { [pending]: "1+0x300" },
    quiet: { [pending]: "0+0x300" },
  },
  ProvenderOriginFailing: {
    fires: { [asked("timeout")]: "0+6x36", [asked("ok")]: "0+1x36" },
    quiet: { [asked("timeout")]: "0+1x36", [asked("not-found")]: "0+6x36" },
  },
  ProvenderStaleAnswers: {
    fires: { [`provender_stale_answers_total{${job}}`]: "0+1x36" },
    quiet: { [`provender_stale_answers_total{${job}}`]: "5+0x36" },
  },
  ProvenderFailing: {
    fires: { [requests("failed")]: "0+1x36", [requests("hit")]: "0+9x36" },
    quiet: { [requests("refused")]: "0+9x36", [requests("hit")]: "0+9x36" },
  },
  ProvenderSlow: {
    fires: {
      [bucket("0.5")]: "0+1x36",
      [bucket("1")]: "0+9x36",
      [bucket("+Inf")]: "0+9x36",
    },
    quiet: { [bucket("0.01")]: "0+9x36", [bucket("+Inf")]: "0+9x36" },
  },
  ProvenderDownloadsWait: {
    fires: steady("provender_fills_waiting", 1),
    quiet: steady("provender_fills_waiting", 0),
  },
  ProvenderStoreFull: {
    fires: { [`provender_failures_total{code="store-full",${job}}`]: rises },
    quiet: { [`provender_archives_total{outcome="evicted",${job}}`]: rises },
  },
  ProvenderReloadFailed: {
    fires: steady("provender_config_last_reload_successful", 0),
    quiet: steady("provender_config_last_reload_successful", 1),
  },
  ...expires("ProvenderCertificateExpires", "certificate"),
  ...expires("ProvenderTokenExpires", "token"),
  ProvenderDescriptors: {
    fires: {
      ...steady("process_open_fds", 90),
      ...steady("process_max_fds", 100),
    },
    quiet: {
      ...steady("process_open_fds", 70),
      ...steady("process_max_fds", 100),
    },
  },
};

function alarms(one: string, other: string) {
  return { fires: { [alarm(one)]: rises }, quiet: { [alarm(other)]: rises } };
}

function expires(rule: string, what: string) {
  const name = `provender_${what}_expiry_timestamp_seconds`;
  const series = (values: string) => ({ [`${name}{${job}}`]: values });
  const never = {
    [`${name}{instance="never",${job.replace(',instance="a"', "")}}`]:
      "NaN+0x36",
  };
  return {
    [rule]: {
      fires: series(inDays(13)),
      quiet: { ...series(inDays(16)), ...never },
    },
  };
}

it("have a case for every rule", () => {
  expect(Object.keys(cases)).toEqual(alertNames);
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

  // Each is scraped once in five minutes.
  it("fire each for its own reason, and not for another", async () => {
    const tests = alertNames.flatMap((rule) =>
      Object.entries(cases[rule] ?? {}).map(([what, series]) => ({
        interval: "5m",
        input_series: Object.entries(series).map(([name, values]) => ({
          ...{ series: name, values },
        })),
        promql_expr_test: [
          {
            expr: `count(ALERTS{alertstate="firing",alertname="${rule}"})`,
            eval_time: rule === "ProvenderPendingDecisions" ? "1450m" : "125m",
            exp_samples: what === "fires" ? [{ labels: "{}", value: 1 }] : [],
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
