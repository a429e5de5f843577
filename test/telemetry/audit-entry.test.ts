import { readFile } from "node:fs/promises";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { AuditEntry } from "../../src/telemetry/audit-log.ts";
import { AuditDirectory, at, durable, entry } from "./audit-directory.ts";

let audit: AuditDirectory;
beforeEach(async () => {
  audit = await AuditDirectory.create();
});
afterEach(() => audit.remove());

test("writes one line of JSON for a decision, with the time first and nothing that was not asked for", async () => {
  const log = audit.open();
  const full = {
    event: "quarantined",
    verdict: "refused",
    client: "192.0.2.7",
    token: "ci",
    requestId: "r-1",
    provider: "registry.terraform.io/hashicorp/null",
    version: "3.2.2",
    platform: "linux_amd64",
    sha256: "ab".repeat(32),
    fingerprint: "C874011F0AB405110D02105534365D9472D7468F",
    rule: "trust.newKeys",
    reason: "key-refused",
    detail: "a new key",
  } as const;
  await log.record({ ...full, ...{ secret: "hunter2" } }, durable);
  await log.close();
  expect(await readFile(audit.path, "utf8")).toBe(
    `${JSON.stringify({ at: at.toISOString(), ...full })}\n`,
  );
});

test("leaves out fields that are not known", async () => {
  const log = audit.open();
  await log.record({ ...entry(1), client: undefined }, durable);
  await log.close();
  expect(await audit.readLines()).toEqual([
    `{"at":"2026-11-21T10:00:00.000Z","event":"served","verdict":"accepted","requestId":"1"}`,
  ]);
});

test("keeps hostile text on its line, in ASCII and short", async () => {
  const log = audit.open();
  const detail =
    '\n{"event":"approved"}\r\u001b[2J\u009b\u2028\u202e\ud83d\ude00';
  await log.record({ ...entry(1), detail }, durable);
  await log.record({ ...entry(2), detail: "x".repeat(5000) }, durable);
  await log.close();
  const lines = await audit.readLines();
  expect(lines).toHaveLength(2);
  expect(lines[0]).toMatch(/^[\x20-\x7e]+$/);
  const read = lines.map((line) => JSON.parse(line) as AuditEntry);
  expect(read[0]?.detail).toBe(detail);
  expect(read[1]?.detail).toBe("x".repeat(1024));
});
