import type { AuditEntry, AuditEvent } from "./audit-entry.ts";
import { AuditLines, type AuditLinesSettings } from "./audit-lines.ts";

export type { AuditEntry, AuditEvent } from "./audit-entry.ts";

export interface AuditLogSettings extends Omit<AuditLinesSettings, "path"> {
  /** The current file of requests; older ones lie beside it as `path.1` (the newest), `path.2` and so on. */
  readonly requests: string;
  /** The same for decisions. */
  readonly decisions: string;
}

/** What follows from single requests, of which clients make as many as they like. */
const ofRequests: ReadonlySet<AuditEvent> = new Set([
  "refused",
  "served",
  "cut",
]);

/** Requests in one file and decisions about what is trusted in another, so that no number of requests moves a decision out. */
export class AuditLog {
  readonly #requests: AuditLines;
  readonly #decisions: AuditLines;

  constructor({ requests, decisions, ...settings }: AuditLogSettings) {
    this.#requests = new AuditLines({ ...settings, path: requests });
    this.#decisions = new AuditLines({ ...settings, path: decisions });
  }

  /**
   * Adds who asked. Resolves for a durable entry when it is on the disk, for another one at once. Only a
   * durable entry rejects, with StoreUnusable: then what it speaks of must not be answered.
   */
  record(
    entry: AuditEntry,
    options: { readonly durable: boolean },
  ): Promise<void> {
    const lines = ofRequests.has(entry.event)
      ? this.#requests
      : this.#decisions;
    return lines.record(entry, options);
  }

  /** Writes and syncs what waits. Rejects with StoreUnusable when that fails. */
  async close(): Promise<void> {
    await Promise.all([this.#requests.close(), this.#decisions.close()]);
  }
}
