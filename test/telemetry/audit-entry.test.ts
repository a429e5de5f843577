import { expect, it } from "vitest";
import { formatAuditEntry } from "../../src/telemetry/audit-entry.ts";

const at = new Date("2026-11-21T10:00:00.000Z");
const served = { event: "served", verdict: "accepted" } as const;

it("formats an entry in one line of JSON, with the time first and nothing that was not asked for", () => {
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
  const given = { ...full, ...{ secret: "hunter2" }, operator: undefined };
  expect(formatAuditEntry(given, at)).toBe(
    JSON.stringify({ at: at.toISOString(), ...full }),
  );
});

it("keeps hostile text on its line, in ASCII and short", () => {
  const detail =
    '\n{"event":"approved"}\r\u001b[2J\u009b\u2028\u202e\ud83d\ude00';
  const line = formatAuditEntry({ ...served, detail }, at);
  expect(line).toMatch(/^[\x20-\x7e]+$/);
  expect(JSON.parse(line)).toMatchObject({ detail });
  const long = formatAuditEntry({ ...served, detail: "x".repeat(5000) }, at);
  expect(JSON.parse(long)).toMatchObject({ detail: "x".repeat(1024) });
});
