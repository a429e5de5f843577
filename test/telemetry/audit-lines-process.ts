import { AuditLines } from "../../src/telemetry/audit-lines.ts";

// Started by the tests and killed by them: records durably for as long as it lives, and says each time that it did.
const [, , path = ""] = process.argv;
const log = new AuditLines({
  path,
  now: () => new Date(),
  onLost: (_, cause) => {
    throw cause;
  },
});
for (let count = 1; count <= 1_000_000; count++) {
  const entry = { event: "refused", verdict: "refused" } as const;
  await log.record({ ...entry, requestId: String(count) }, { durable: true });
  process.stdout.write(`${count}\n`);
}
