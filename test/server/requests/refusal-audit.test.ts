import type { Socket } from "node:net";
import { beforeEach, expect, it } from "vitest";
import { failure, type ProvenderError } from "../../../src/errors/index.ts";
import { ClientAddresses } from "../../../src/server/http/client-address.ts";
import { RefusalAudit } from "../../../src/server/requests/refusal-audit.ts";
import { AuditLog } from "../../../src/store/database/audit-log.ts";
import { Alarms } from "../../../src/telemetry/alarms.ts";
import { makeLogger } from "../../../src/telemetry/logger.ts";
import { Metrics } from "../../../src/telemetry/metrics.ts";
import { auditParts, makeLayout, readAuditOf } from "../../store/stores.ts";

let metrics: Metrics;
let refuse: (n: number, from?: string, error?: ProvenderError) => void;
let written: () => Promise<ReturnType<typeof readAuditOf>>;

const words = { because: undefined, contact: undefined };
const rule = ["acme/demo", undefined, "policy.default"] as const;
const denied = failure("policy-denied", ...rule, words);

beforeEach(async () => {
  const layout = await makeLayout();
  const log = new AuditLog(auditParts(layout));
  metrics = new Metrics(new Date());
  const logger = makeLogger({ level: "fatal" });
  const refusals = new RefusalAudit(log, new Alarms(logger, metrics));
  /** Of version n of a provider. */
  refuse = (n, remoteAddress = "192.0.2.1", error = denied) => {
    const archive = `terraform-provider-demo_${n}.0.0_linux_amd64`;
    const provider = { namespace: "acme", type: "demo", archive };
    const names = { hostname: "registry.terraform.io", ...provider };
    const socket: unknown = { remoteAddress };
    const client = new ClientAddresses([]).connected(socket as Socket);
    refusals.record(names, error, client);
  };
  written = async () => {
    await log.flush();
    return readAuditOf(layout);
  };
});

it("writes ten lines for what one client is refused again and again", async () => {
  for (let n = 0; n < 200; n++) refuse(1);
  const line = { event: "refused", client: "192.0.2.1" };
  expect(await written()).toMatchObject(
    Array(10).fill({ ...line, reason: "policy-denied" }),
  );
});

it("writes a number of lines for a client that is refused something else each time, and leaves the others theirs", async () => {
  for (let n = 0; n < 300; n++) refuse(n);
  expect(await written()).toHaveLength(60);
  refuse(7, "192.0.2.2");
  expect(await written()).toContainEqual(
    expect.objectContaining({ client: "192.0.2.2", version: "7.0.0" }),
  );
});

it("bounds the lines of all clients together", async () => {
  for (let n = 0; n < 900; n++) refuse(n, `2001:db8:${n.toString(16)}:1::1`);
  expect(await written()).toHaveLength(600);
});

const bad = failure("signature-refused", "acme/demo 1.0.0", "bad", "bad");
const other = ["a.zip", "a", "b", "the registry"] as const;
const conflict = failure("checksum-conflict", ...other);

it.each([
  ["signature-refused", bad],
  ["archive-tampered", conflict],
])("raises %s once for what comes again", async (kind, error) => {
  for (let n = 0; n < 20; n++) refuse(1, undefined, error);
  const { text } = await metrics.render();
  expect(text).toContain(`provender_alarms_total{kind="${kind}"} 1\n`);
});
