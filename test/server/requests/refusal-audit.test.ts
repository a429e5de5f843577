import { readdir, readFile, stat } from "node:fs/promises";
import type { Socket } from "node:net";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { failure, type ProvenderError } from "../../../src/errors/index.ts";
import {
  ClientAddresses,
  type Client,
} from "../../../src/server/http/client-address.ts";
import { RefusalAudit } from "../../../src/server/requests/refusal-audit.ts";
import { Alarms } from "../../../src/telemetry/alarms.ts";
import { AuditLog, type AuditEntry } from "../../../src/telemetry/audit-log.ts";
import { makeLogger } from "../../../src/telemetry/logger.ts";
import { Metrics } from "../../../src/telemetry/metrics.ts";
import { scratch } from "../../running-mirror.ts";

let folder: string;
let log: AuditLog;
let metrics: Metrics;
let refusals: RefusalAudit;

beforeEach(() => {
  folder = scratch("audit");
  log = new AuditLog({
    requests: join(folder, "audit.jsonl"),
    decisions: join(folder, "decisions.jsonl"),
    now: () => new Date(),
    onLost: (_, cause) => {
      throw cause;
    },
  });
  metrics = new Metrics(new Date());
  const logger = makeLogger({ level: "fatal" });
  refusals = new RefusalAudit(log, new Alarms(logger, metrics));
});
afterEach(() => log.close());

const denied = failure(
  "policy-denied",
  "acme/demo",
  undefined,
  "policy.default",
  { because: undefined, contact: undefined },
);

function clientAt(remoteAddress: string): Client {
  const socket: unknown = { remoteAddress };
  return new ClientAddresses([]).connected(socket as Socket);
}

function refuse(from: string, names = {}, error: ProvenderError = denied) {
  return refusals.record(names, error, clientAt(from));
}

async function close(): Promise<readonly AuditEntry[]> {
  await log.close();
  const text = await readFile(join(folder, "audit.jsonl"), "utf8");
  return text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as AuditEntry);
}

const archiveOf = (n: number) => ({
  hostname: "registry.terraform.io",
  namespace: "acme",
  type: "demo",
  archive: `terraform-provider-demo_${n}.0.0_linux_amd64`,
});

it("writes ten lines for what one client is refused again and again", async () => {
  for (let n = 0; n < 200; n++) await refuse("192.0.2.1");
  const lines = await close();
  const line = { event: "refused", client: "192.0.2.1" };
  const [reason, all] = ["policy-denied", { length: 10 }];
  expect(lines).toMatchObject(Array.from(all, () => ({ ...line, reason })));
});

it("writes a number of lines for a client that is refused something else each time", async () => {
  for (let n = 0; n < 300; n++) await refuse("192.0.2.1", archiveOf(n));
  expect(await close()).toHaveLength(60);
});

it("leaves the others their lines", async () => {
  for (let n = 0; n < 100; n++) await refuse("192.0.2.1", archiveOf(n));
  await refuse("192.0.2.2", archiveOf(7));
  expect(await close()).toContainEqual(
    expect.objectContaining({ client: "192.0.2.2", version: "7.0.0" }),
  );
});

it("bounds the lines of all clients together", async () => {
  for (let n = 0; n < 900; n++)
    await refuse(`2001:db8:${n.toString(16)}:1::1`, archiveOf(n));
  expect(await close()).toHaveLength(600);
});

it("keeps decisions where refusals do not reach", async () => {
  const first = { event: "first-seen", verdict: "accepted" } as const;
  await log.record({ ...first, version: "1.0.0" }, { durable: true });
  await refuse("192.0.2.1");
  await close();
  expect(await readdir(folder)).toEqual(["audit.jsonl", "decisions.jsonl"]);
  const decisions = await readFile(join(folder, "decisions.jsonl"), "utf8");
  expect(JSON.parse(decisions)).toMatchObject(first);
  expect((await stat(join(folder, "audit.jsonl"))).size).toBeLessThan(1_000);
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
  for (let n = 0; n < 20; n++) await refuse("192.0.2.1", archiveOf(1), error);
  const { text } = await metrics.render();
  expect(text).toContain(`provender_alarms_total{kind="${kind}"} 1\n`);
});
