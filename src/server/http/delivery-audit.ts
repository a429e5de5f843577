import type { ServerResponse } from "node:http";
import { currentAsker } from "../../telemetry/asker.ts";
import type { AuditEntry, AuditLog } from "../../telemetry/audit-log.ts";

/** Writes down what became of an archive once its answer is over: `served` to its end, or `cut`; nothing when it was refused before its first byte. */
export function recordDelivery(
  audit: AuditLog,
  answer: ServerResponse,
  archive: Omit<AuditEntry, "event" | "verdict">,
): void {
  const asker = currentAsker();
  answer.once("close", () => {
    const { headersSent, statusCode, writableFinished } = answer;
    if (!headersSent || statusCode >= 300) return;
    const event = writableFinished ? "served" : "cut";
    void audit.record(
      { ...asker, ...archive, event, verdict: "accepted" },
      { durable: false },
    );
  });
}
