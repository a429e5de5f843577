import {
  isFailure,
  isPackageHash,
  type ProvenderError,
} from "../../errors/index.ts";
import type { Alarms } from "../../telemetry/alarms.ts";
import { currentAsker } from "../../telemetry/asker.ts";
import type { AuditEntry, AuditLog } from "../../telemetry/audit-log.ts";
import { Folding } from "../../telemetry/folding.ts";
import type { Client } from "../http/client-address.ts";
import { subjectOf, type PathNames } from "./subject.ts";

/**
 * Lines for the same refusal of the same client, for each client, and for all,
 * in each window of milliseconds.
 */
const lineLimits = { window: 60_000, same: 10, group: 60, all: 600 };

/**
 * Records refusals within limits, so that no client can push other clients'
 * lines out of the log.
 */
export class RefusalAudit {
  readonly #audit: AuditLog;
  readonly #alarms: Alarms;
  readonly #folding = new Folding<AuditEntry>(lineLimits, {
    summarize: ({ client }, of) => ({
      event: "refused",
      verdict: "refused",
      client: of === "its group" ? client : undefined,
      detail:
        of === "its group"
          ? "other refusals of this client"
          : "refusals of other clients",
    }),
    onRepeated: (entry, repeated) =>
      void this.#audit.record({ ...entry, repeated }, { durable: false }),
  });

  constructor(audit: AuditLog, alarms: Alarms) {
    this.#audit = audit;
    this.#alarms = alarms;
  }

  /**
   * A refusal that has a line of its own is on the disk when this resolves, so
   * that none is answered and forgotten; rejects with store-full.
   */
  async record(
    names: PathNames,
    error: ProvenderError,
    { address: client }: Client,
  ): Promise<void> {
    const { requestId, token } = currentAsker() ?? {};
    const facts = describe(names, error);
    const key = JSON.stringify([client, facts]);
    const entry = { ...facts, client, requestId, token };
    this.#raise(error, facts);
    if (this.#folding.add(key, client, entry) === "line")
      await this.#audit.record(entry, { durable: true });
  }

  /** Writes how often refusals came again. */
  close(): void {
    this.#folding.close();
  }

  /**
   * Raises the alarm for a refusal. A download raises its own alarm for an
   * archive that differs from the signed one.
   */
  #raise(error: ProvenderError, { provider, version, detail }: AuditEntry) {
    const isTampered =
      isFailure(error, "checksum-conflict") ||
      (isFailure(error, "archive-digest") && isPackageHash(error.expected));
    const facts = { provider, version, detail };
    if (isTampered) this.#alarms.raise("archive-tampered", facts);
    else if (isFailure(error, "signature-refused"))
      this.#alarms.raise("signature-refused", facts);
  }
}

function describe(names: PathNames, error: ProvenderError): AuditEntry {
  const facts = error as unknown as Readonly<Record<string, unknown>>;
  return {
    event: "refused",
    verdict: "refused",
    reason: error.code,
    detail: error.message,
    rule: isFailure(error, "key-refused")
      ? `trust: ${error.because}`
      : textOf(facts.rule),
    fingerprint: textOf(facts.fingerprint),
    sha256: textOf(facts.got),
    ...subjectOf(names),
  };
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}
