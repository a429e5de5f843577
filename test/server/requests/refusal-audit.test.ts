import { expect, it } from "vitest";
import { failure } from "../../../src/errors/index.ts";
import { recordRefusals } from "../../../src/server/requests/refusal-audit.ts";
import { AuditLog } from "../../../src/store/database/audit-log.ts";
import { Alarms } from "../../../src/telemetry/alarms.ts";
import { makeLogger } from "../../../src/telemetry/logger.ts";
import { auditParts, makeLayout, readAuditOf } from "../../store/stores.ts";

async function startLog() {
  const layout = await makeLayout();
  const log = new AuditLog(auditParts(layout));
  const alarms = new Alarms(makeLogger({ level: "fatal" }), undefined);
  const record = recordRefusals(log, alarms);
  const guidance = { because: undefined, contact: undefined };
  const denied = failure("policy-denied", "a/b", undefined, "a rule", guidance);
  const refuse = (client: string, version: number) => {
    const archive = `terraform-provider-demo_${version}.0.0_linux_amd64`;
    const names = { hostname: "a.test", namespace: "a", type: "demo", archive };
    record(names, denied, { requestId: "an-id", client });
  };
  const written = async () => {
    await log.flush();
    return readAuditOf(layout);
  };
  return { refuse, written };
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
