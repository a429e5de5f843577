import { expect, it } from "vitest";
import { failure, type ProvenderError } from "../../../src/errors/index.ts";
import { recordRefusals } from "../../../src/server/requests/refusal-audit.ts";
import { AuditLog } from "../../../src/store/database/audit-log.ts";
import { Alarms } from "../../../src/telemetry/alarms.ts";
import { makeLogger } from "../../../src/telemetry/logger.ts";
import { Metrics } from "../../../src/telemetry/metrics.ts";
import { auditParts, makeLayout, readAuditOf } from "../../store/stores.ts";

async function startLog() {
  const layout = await makeLayout();
  const log = new AuditLog(auditParts(layout));
  const metrics = new Metrics("");
  const logger = makeLogger({ level: "fatal" });
  const record = recordRefusals(log, new Alarms(logger, metrics));
  const guidance = { because: undefined, contact: undefined };
  const denied = failure("policy-denied", "a/b", undefined, "a rule", guidance);
  const refuse = (
    client: string,
    version: number,
    error: ProvenderError = denied,
  ) => {
    const archive = `terraform-provider-demo_${version}.0.0_linux_amd64`;
    const names = { hostname: "a.test", namespace: "a", type: "demo", archive };
    record(names, error, { requestId: "an-id", client });
  };
  const written = async () => {
    await log.flush();
    return readAuditOf(layout);
  };
  return { metrics, refuse, written };
}

const clientOf = (n: number) => `2001:db8:${n.toString(16)}:1::1`;

it.each<[string, number, number, (n: number) => readonly [string, number]]>([
  ["one client is refused again and again", 10, 1, () => [clientOf(1), 1]],
  ["one client is refused, for all it asks", 60, 1, (n) => [clientOf(1), n]],
  ["clients are refused together", 600, 0, (n) => [clientOf(n), n]],
])(
  "of what %s, %i lines are written, and %i of another client",
  async (_, most, others, asked) => {
    const { refuse, written } = await startLog();
    for (let n = 0; n < 900; n++) refuse(...asked(n));
    refuse("192.0.2.2", 7);
    const lines = await written();
    expect(lines).toHaveLength(most + others);
    const line = { event: "refused", reason: "policy-denied" };
    expect(lines).toContainEqual(expect.objectContaining(line));
    const other = { ...line, client: "192.0.2.2", version: "7.0.0" };
    const ofOther = lines.filter(({ client }) => client === other.client);
    expect(ofOther).toMatchObject(Array(others).fill(other));
  },
);

it.each([
  [
    "signature-refused",
    failure("signature-refused", "acme/demo 1.0.0", "bad", "bad"),
  ],
  [
    "archive-tampered",
    failure("checksum-conflict", "a.zip", "a", "b", "the registry"),
  ],
])("raises %s once for what comes again", async (kind, error) => {
  const { metrics, refuse } = await startLog();
  for (let n = 0; n < 20; n++) refuse("192.0.2.1", 1, error);
  const { text } = await metrics.render();
  expect(text).toContain(`provender_alarms_total{kind="${kind}"} 1\n`);
});
