import { expect, it } from "vitest";
import { alarmKinds, Metrics } from "../../src/telemetry/metrics.ts";

it("has a series of every alarm, reason and outcome before anything happened", async () => {
  const { text } = await new Metrics(new Date()).render();
  const series = [
    ...alarmKinds.map((kind) => `alarms_total{kind="${kind}"}`),
    'origin_suspensions_total{reason="busy"}',
    'origin_suspensions_total{reason="failing"}',
    'archives_total{outcome="evicted"}',
    'archives_total{outcome="passed"}',
    'modules_passed_through_total{getter="s3"}',
    'modules_passed_through_total{getter="other"}',
  ];
  for (const name of series) expect(text).toContain(`provender_${name} 0\n`);
});

it("counts an alarm in its series", async () => {
  const metrics = new Metrics(new Date());
  for (const kind of alarmKinds) metrics.countAlarm(kind);
  const { text } = await metrics.render();
  for (const kind of alarmKinds)
    expect(text).toContain(`provender_alarms_total{kind="${kind}"} 1\n`);
});

it("takes no word of a registry for a label", async () => {
  const metrics = new Metrics(new Date());
  for (const getter of ["s3", "s3-x", "evil", "__proto__", "", 'a"} 1\nb'])
    metrics.countPassedThrough(getter);
  const { text } = await metrics.render();
  const labels = [...text.matchAll(/getter="([^"]*)"/g)].map(([, one]) => one);
  expect(labels.toSorted()).toEqual(
    ["git", "gcs", "hg", "http", "other", "s3"].toSorted(),
  );
});
