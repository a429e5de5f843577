import { beforeEach, expect, it } from "vitest";
import { failure, type ProvenderError } from "../../../src/errors/index.ts";
import {
  recordRefusals,
  type RecordRefusal,
} from "../../../src/server/requests/refusal-audit.ts";
import { AuditLog } from "../../../src/store/database/audit-log.ts";
import type { StoreLayout } from "../../../src/store/layout.ts";
import { Alarms } from "../../../src/telemetry/alarms.ts";
import { makeLogger } from "../../../src/telemetry/logger.ts";
import { Metrics } from "../../../src/telemetry/metrics.ts";
import {
  type AuditLine,
  auditParts,
  makeLayout,
  readAuditOf,
} from "../../store/stores.ts";

let layout: StoreLayout;
let log: AuditLog;
let metrics: Metrics;
let record: RecordRefusal;

beforeEach(async () => {
  layout = await makeLayout();
  log = new AuditLog(auditParts(layout));
  metrics = new Metrics("");
  const logger = makeLogger({ level: "fatal" });
  record = recordRefusals(log, new Alarms(logger, metrics));
});

const guidance = { because: undefined, contact: undefined };
const denied = failure("policy-denied", "a/b", undefined, "a rule", guidance);

function refuse(client: string, names = {}, error: ProvenderError = denied) {
  record(names, error, { requestId: "an-id", client });
}

async function written(): Promise<readonly AuditLine[]> {
  await log.flush();
  return readAuditOf(layout);
}

const archiveOf = (n: number) => ({
  hostname: "registry.terraform.io",
  namespace: "acme",
  type: "demo",
  archive: `terraform-provider-demo_${n}.0.0_linux_amd64`,
});

it("writes ten lines for what one client is refused again and again", async () => {
  for (let n = 0; n < 200; n++) refuse("192.0.2.1");
  const lines = await written();
  const line = { event: "refused", client: "192.0.2.1" };
  const [reason, all] = ["policy-denied", { length: 10 }];
  expect(lines).toMatchObject(Array.from(all, () => ({ ...line, reason })));
});

it("writes a number of lines for a client that is refused something else each time", async () => {
  for (let n = 0; n < 300; n++) refuse("192.0.2.1", archiveOf(n));
  expect(await written()).toHaveLength(60);
});

it("leaves the others their lines", async () => {
  for (let n = 0; n < 100; n++) refuse("192.0.2.1", archiveOf(n));
  refuse("192.0.2.2", archiveOf(7));
  expect(await written()).toContainEqual(
    expect.objectContaining({ client: "192.0.2.2", version: "7.0.0" }),
  );
});

it("bounds the lines of all clients together", async () => {
  for (let n = 0; n < 900; n++)
    refuse(`2001:db8:${n.toString(16)}:1::1`, archiveOf(n));
  expect(await written()).toHaveLength(600);
});

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
  for (let n = 0; n < 20; n++) refuse("192.0.2.1", archiveOf(1), error);
  const { text } = await metrics.render();
  expect(text).toContain(`provender_alarms_total{kind="${kind}"} 1\n`);
});
