import type { AuditEntry, AuditEvent } from "./audit-entry.ts";
import { AuditLines, type AuditLinesSettings } from "./audit-lines.ts";
import { Folding } from "./folding.ts";

export type { AuditEntry, AuditEvent } from "./audit-entry.ts";

/** Lets one process at a time append to a log. */
type AuditGuard = Required<Pick<AuditLinesSettings, "exclusively">>;

interface AuditLogSettings extends Omit<
  AuditLinesSettings,
  "path" | keyof AuditGuard
> {
  /** The current file of requests; older ones lie beside it as `path.1` (the newest), `path.2` and so on. */
  readonly requests: string;
  /** The same for decisions. */
  readonly decisions: string;
  /** Needed where several processes append. */
  readonly guards?: {
    readonly requests: AuditGuard;
    readonly decisions: AuditGuard;
  };
}

/** Events of single requests, which clients can repeat without limit. */
const ofRequests: ReadonlySet<AuditEvent> = new Set([
  "refused",
  "served",
  "cut",
]);

/** Events of origins' offers, which repeat with every request. */
const ofOffers: ReadonlySet<AuditEvent> = new Set([
  "replaced",
  "quarantined",
  "judged-again",
  "left-out",
]);

/** Lines for refused offers: of the same event on the same release, of its provider or module, and of all. */
const offerLineLimits = { window: 3_600_000, same: 10, group: 60, all: 600 };

/** Requests in one file and decisions about what is trusted in another, so that no number of requests moves a decision out; nor does an origin that changes what it offers. */
export class AuditLog {
  readonly #requests: AuditLines;
  readonly #decisions: AuditLines;
  readonly #folding = new Folding<AuditEntry>(offerLineLimits, {
    summarize: ({ provider, module }, of) => ({
      event: "refused",
      verdict: "refused",
      ...(of === "its group" && { provider, module }),
      detail: "other decisions against what an origin offers",
    }),
    onRepeated: (entry, repeated) =>
      void this.#decisions.record({ ...entry, repeated }, { durable: false }),
  });

  constructor({ requests, decisions, guards, ...settings }: AuditLogSettings) {
    this.#requests = new AuditLines({
      ...settings,
      ...guards?.requests,
      path: requests,
    });
    this.#decisions = new AuditLines({
      ...settings,
      ...guards?.decisions,
      path: decisions,
    });
  }

  /**
   * Adds the client or operator. Resolves for a durable entry when it is on the
   * disk, for another one at once. Only a durable entry rejects, with
   * store-full; its subject must not be answered then.
   */
  async record(
    entry: AuditEntry,
    options: { readonly durable: boolean },
  ): Promise<void> {
    if (ofRequests.has(entry.event))
      return this.#requests.record(entry, options);
    if (this.#isFolded(entry)) return;
    await this.#decisions.record(entry, options);
  }

  /** Writes and syncs what waits. Rejects with store-full when that fails. */
  async close(): Promise<void> {
    this.#folding.close();
    await Promise.all([this.#requests.close(), this.#decisions.close()]);
  }

  /**
   * Folds repeated events. An operator's decision, and content that becomes
   * trusted, always has a line.
   */
  #isFolded(entry: AuditEntry): boolean {
    const { event, verdict, provider, module, version } = entry;
    if (verdict === "accepted" || !ofOffers.has(event)) return false;
    const group = provider ?? module ?? "";
    const key = JSON.stringify([event, group, version]);
    return this.#folding.add(key, group, entry) !== "line";
  }
}
