import {
  ChecksumConflict,
  PackageHashWrong,
  SignatureRefused,
  type ProvenderError,
} from "../errors/index.ts";
import type { Alarms } from "../telemetry/alarms.ts";
import { currentAsker } from "../telemetry/asker.ts";
import type { AuditEntry, AuditLog } from "../telemetry/audit-log.ts";
import type { Client } from "./http/client-address.ts";

/** The names in the path that was asked, as the table of URLs has them. */
export type PathNames = Readonly<Partial<Record<string, string>>>;

/** Milliseconds. */
const foldingWindow = 60_000;
/** Lines in one window: of the same refusal of the same client, of each client, and of all. What is above is counted, and the count is one line. */
const mostLines = { same: 10, client: 60, all: 600 };

interface Folded {
  readonly entry: AuditEntry;
  lines: number;
  repeated: number;
}

/** Writes down refusals as far as no client can push the others' lines out of the log. */
export class RefusalAudit {
  readonly #audit: AuditLog;
  readonly #alarms: Alarms;
  /** By what is the same; never more than the lines of one window and one more for each of its clients. */
  readonly #folded = new Map<string, Folded>();
  readonly #linesOf = new Map<string, number>();
  #lines = 0;
  #window: NodeJS.Timeout | undefined;

  constructor(audit: AuditLog, alarms: Alarms) {
    this.#audit = audit;
    this.#alarms = alarms;
  }

  /**
   * A refusal that has a line of its own is on the disk when this resolves, so
   * that none is answered and forgotten; rejects with StoreUnusable.
   */
  async record(
    names: PathNames,
    error: ProvenderError,
    { address: client, counted = client }: Client,
  ): Promise<void> {
    const { requestId, token } = currentAsker() ?? {};
    const facts = describe(names, error);
    const key = JSON.stringify([counted, facts]);
    const entry = { ...facts, client, requestId, token };
    const folded = this.#folded.get(key) ?? { entry, lines: 0, repeated: 0 };
    if (folded.lines < mostLines.same && this.#hasLine(counted)) {
      this.#folded.set(key, folded);
      folded.lines++;
      if (folded.lines === 1) this.#raise(error, facts);
      await this.#audit.record(entry, { durable: true });
    } else if (folded.lines > 0) folded.repeated++;
    else this.#countOnly(counted, client);
  }

  /** Writes how often refusals came again; a new window begins with the next one. */
  close(): void {
    clearTimeout(this.#window);
    this.#window = undefined;
    const folded = [...this.#folded.values()];
    this.#folded.clear();
    this.#linesOf.clear();
    this.#lines = 0;
    for (const { entry, repeated } of folded)
      if (repeated > 0)
        void this.#audit.record({ ...entry, repeated }, { durable: false });
  }

  #hasLine(counted: string): boolean {
    this.#window ??= setTimeout(() => this.close(), foldingWindow).unref();
    const lines = this.#linesOf.get(counted) ?? 0;
    if (lines >= mostLines.client || this.#lines >= mostLines.all) return false;
    this.#linesOf.set(counted, lines + 1);
    this.#lines++;
    return true;
  }

  #countOnly(counted: string, client: string): void {
    const isKnown = this.#linesOf.has(counted);
    const key = isKnown ? counted : "";
    const folded = this.#folded.get(key) ?? {
      entry: {
        event: "refused",
        verdict: "refused",
        client: isKnown ? client : undefined,
        detail: isKnown
          ? "other refusals of this client"
          : "refusals of other clients",
      },
      lines: 0,
      repeated: 0,
    };
    folded.repeated++;
    this.#folded.set(key, folded);
  }

  /** An archive that was not the signed one is told of by its download. */
  #raise(error: ProvenderError, { provider, version, detail }: AuditEntry) {
    const isTampered =
      error instanceof ChecksumConflict || error instanceof PackageHashWrong;
    const facts = { provider, version, detail };
    if (isTampered) this.#alarms.raise("archive-tampered", facts);
    else if (error instanceof SignatureRefused)
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
    rule: textOf(facts.rule),
    fingerprint: textOf(facts.fingerprint),
    sha256: textOf(facts.got),
    ...subjectOf(names),
  };
}

interface Subject {
  readonly provider?: string;
  readonly module?: string;
  readonly version?: string | undefined;
  readonly platform?: string | undefined;
}

/** The provider or module, and the document, that the path names, whatever protocol it is of. */
function subjectOf(names: PathNames): Subject {
  const { hostname, namespace, name, system, type, version } = names;
  if (system !== undefined)
    return { module: `${hostname}/${namespace}/${name}/${system}`, version };
  if (type === undefined) return {};
  const provider = `${hostname}/${namespace}/${type}`;
  const { os, arch, archive = "" } = names;
  if (arch !== undefined)
    return { provider, version, platform: `${os}_${arch}` };
  const [, archived, platform] = /_([^_]+)_([^_]+_[^_]+)$/.exec(archive) ?? [];
  return archived === undefined
    ? { provider, version }
    : { provider, version: archived, platform };
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}
