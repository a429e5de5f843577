import { afterEach, beforeEach, expect, it } from "vitest";
import { verifyLog } from "../../../src/telemetry/audit/verify-log.ts";
import { effort } from "../../effort.ts";
import { AuditDirectory, entry, guarding } from "../audit-directory.ts";

let audit: AuditDirectory;
beforeEach(async () => {
  audit = await AuditDirectory.create();
});
afterEach(() => audit.remove());

const perSecond = 50_000;

it("checks 50 000 lines a second, so a million in 20 s, in memory that does not grow with them", async () => {
  const lines = Math.min(1_000_000, 100_000 * effort);
  const keep = 20;
  const log = audit.open({ keep, ...guarding(audit.path) });
  for (let id = 1; id < lines; id += 10_000) {
    for (let n = id; n < id + 9_999; n++)
      void log.record(full(n), { durable: false });
    await log.record(full(id + 9_999), { durable: true });
  }
  await log.close();
  expect(audit.lost).toEqual([]);
  const before = process.memoryUsage().rss;
  const start = performance.now();
  const found = await verifyLog({
    path: audit.path,
    keep,
    ...guarding(audit.path),
  });
  const seconds = (performance.now() - start) / 1_000;
  expect(found.breaks).toEqual([]);
  expect(found.lines).toBe(lines);
  expect(lines / seconds).toBeGreaterThan(perSecond);
  expect(process.memoryUsage().rss - before).toBeLessThan(150 * 2 ** 20);
  if (process.env.PROVENDER_EFFORT !== undefined)
    process.stdout.write(`${lines} lines in ${seconds.toFixed(1)} s\n`);
}, 300_000);

function full(id: number) {
  return {
    ...entry(id),
    client: "192.0.2.7",
    provider: "registry.terraform.io/hashicorp/aws",
    version: "6.0.0",
    platform: "linux_amd64",
    sha256: "ab".repeat(32),
  };
}
