import { AuditLines } from "../../src/telemetry/audit-log.ts";
import { guarding } from "./audit-directory.ts";

// Started by the tests and killed by them: records durably for as long as it lives, and says each time that it did.
const [, , path = "", maxSize] = process.argv;
const log = new AuditLines({
  path,
  now: () => new Date(),
  onLost: (_, cause) => {
    throw cause;
  },
  ...(maxSize !== undefined && guarding(path)),
  maxSize: maxSize === undefined ? undefined : Number(maxSize),
  keep: 100,
});
const stop = new AbortController();
process.once("SIGTERM", () => stop.abort());
for (let count = 1; count <= 1_000_000 && !stop.signal.aborted; count++) {
  const entry = { event: "refused", verdict: "refused" } as const;
  // Lines without a wait fill batches of many lines.
  for (let more = maxSize === undefined ? 0 : count % 7; more > 0; more--)
    void log.record(
      { ...entry, requestId: "not waited for" },
      { durable: false },
    );
  await log.record({ ...entry, requestId: String(count) }, { durable: true });
  process.stdout.write(`${count}\n`);
}
await log.close();
