import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { run } from "../packaging/release.ts";
import { scratch } from "../running-mirror.ts";

export const monitoring = join(
  import.meta.dirname,
  ...["..", "..", "packaging", "monitoring"],
);
export const rulesFile = join(monitoring, "alerts.yaml");

interface RuleFile {
  readonly groups: readonly {
    readonly rules: readonly {
      readonly alert: string;
      readonly expr: string;
    }[];
  }[];
}

export const alertNames = (
  parse(readFileSync(rulesFile, "utf8")) as RuleFile
).groups.flatMap(({ rules }) => rules.map(({ alert }) => alert));

/** One unit test of promtool: what is scraped once in five minutes, and what must be true of it. */
export interface RuleTest {
  /** Values by series, in promtool's notation. */
  readonly series: Readonly<Record<string, string>>;
  readonly at: string;
  /** Number of firing alerts by selector of ALERTS. */
  readonly firing: Readonly<Record<string, number>>;
}

/** Rejects with what promtool says of a test that fails. */
export async function testRules(tests: readonly RuleTest[]): Promise<void> {
  const file = join(scratch("rules"), "tests.yaml");
  const document = {
    rule_files: [rulesFile],
    evaluation_interval: "5m",
    tests: tests.map(({ series, at, firing }) => ({
      interval: "5m",
      input_series: Object.entries(series).map(([name, values]) => ({
        series: name,
        values,
      })),
      promql_expr_test: Object.entries(firing).map(([selector, count]) => ({
        expr: `count(ALERTS{alertstate="firing",${selector}})`,
        eval_time: at,
        exp_samples: count === 0 ? [] : [{ labels: "{}", value: count }],
      })),
    })),
  };
  writeFileSync(file, JSON.stringify(document));
  await run("promtool", ["test", "rules", file]);
}
