import { expect, it } from "vitest";
import { answeredCodes } from "../../src/server/http/error-response.ts";
import { requestKind } from "../../src/server/requests/request-log.ts";
import { Metrics } from "../../src/telemetry/metrics.ts";
import { alarms } from "../../src/telemetry/definitions.ts";

it("has a series of every alarm, reason and outcome before anything happened", async () => {
  const metrics = new Metrics("");
  const { text } = await metrics.render();
  const series = [
    ...Object.keys(alarms).map((kind) => `alarms_total{kind="${kind}"}`),
    'archives_total{outcome="evicted"}',
    "modules_passed_through_total",
    "audit_failures_total",
  ];
  for (const name of series) expect(text).toContain(`provender_${name} 0\n`);
});

it("sorts requests into few kinds, for any path", () => {
  const paths = [
    ["/providers/h/n/t/index.json", "index"],
    ["/providers/h/n/t/1.0.0.json", "version"],
    ["/providers/h/n/t/terraform-provider-t_1.0.0_linux_amd64.zip", "archive"],
    ["/v1/providers/h/n/t/versions", "index"],
    ["/v1/providers/h/n/t/1.0.0/download/linux/amd64", "version"],
    ["/v1/modules/h/n/m/s/1.0.0/archive.tar.gz", "module"],
    ["/.well-known/terraform.json", "discovery"],
    ["/", "page"],
    ["/metrics", "operation"],
    ["/providers/../../etc/passwd", "other"],
    ["//", "other"],
    ["", "other"],
  ] as const;
  for (const [path, kind] of paths) expect(requestKind(path)).toBe(kind);
});

it("counts refusals and failures apart, by codes that are there from the start", async () => {
  const metrics = new Metrics("");
  metrics.expectCodes("refusals", answeredCodes.refusals);
  metrics.expectCodes("failures", answeredCodes.failures);
  for (const [outcome, status, code] of [
    ["refused", 451, "policy-denied"],
    ["failed", 502, "origin-status"],
    ["not-found", 404, "not-found"],
  ] as const)
    metrics.countRequest({
      ...{ kind: "index", ms: 1, bytes: 1 },
      ...{ outcome, status, code },
    });
  const { text } = await metrics.render();
  for (const line of [
    'refusals_total{code="policy-denied"} 1',
    'refusals_total{code="key-refused"} 0',
    'failures_total{code="origin-status"} 1',
    'failures_total{code="internal"} 0',
  ])
    expect(text).toContain(`provender_${line}\n`);
  expect(text).not.toContain('code="not-found"');
});
