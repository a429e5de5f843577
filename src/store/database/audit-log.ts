import { appendFile, readFile } from "node:fs/promises";
import { setImmediate as nextTurn } from "node:timers/promises";
import { sql } from "kysely";
import { failure } from "../../errors/index.ts";
import { askers } from "../../telemetry/asker.ts";
import {
  type AuditEntry,
  type AuditEvent,
  auditEvents,
  formatAuditEntry,
  type WrittenEntry,
} from "../../telemetry/audit-entry.ts";
import { LineLimit } from "../../telemetry/line-limit.ts";
import type { Logger } from "../../telemetry/logger.ts";
import { refuseToStore, unlessMissing } from "../file-failure.ts";
import type { EventRow } from "./schema.ts";
import type { Database } from "./transactions.ts";

interface AuditLogParts {
  readonly database: Database;
  /** The file of operators' decisions: what an older backup of the database took back is found by it. */
  readonly decisions: string;
  readonly logger: Logger;
  readonly onLost: (entries: number, cause: unknown) => void;
}

const ofOperators = new Set<AuditEvent>(["approved", "revoked", "forgotten"]);

/** Counted by archive, client and day. */
const deliveries = new Set<AuditEvent>(["served", "cut"]);

/** Events of origins' offers, which repeat with every request. */
const ofOffers = new Set<AuditEvent>([
  "replaced",
  "quarantined",
  "judged-again",
  "left-out",
]);

/** Rows for refused offers: of the same event on the same release, of its provider or module, and of all. */
const mostOffers = { window: 3_600_000, same: 10, group: 60, all: 600 };

/** Milliseconds between two writes of what nothing waits for. */
const writePause = 1_000;
/** Rows that wait; further ones are lost, since clients make as many as they like. */
const mostWaiting = 5_000;
/** Rows of one statement. */
const atOnce = 50;
/** Rows of each event that are kept. */
const mostKept = 100_000;
/** Rows that are read at once. */
const pageSize = 500;
/** Rows that may be written while a transaction that wrote another one before them is still open. */
const overtaking = 1_000;

/** What was decided, and what became of requests: rows of the database, and lines of the log. */
export class AuditLog {
  readonly #parts: AuditLogParts;
  readonly #offers = new LineLimit(mostOffers);
  readonly #waiting = new Map<unknown, EventRow>();
  #writing = Promise.resolve();
  #timer: NodeJS.Timeout | undefined;

  constructor(parts: AuditLogParts) {
    this.#parts = parts;
  }

  /**
   * Adds the client. Resolves for a durable entry when it is on the disk or in the transaction that is open, for another
   * one at once. Only a durable entry rejects, with store-full; its subject must not be answered then.
   */
  async record(
    entry: AuditEntry,
    { durable }: { readonly durable: boolean },
  ): Promise<void> {
    const { event, verdict, provider, module, version } = entry;
    // What an origin offers again and again is bounded; content that becomes trusted always has its row.
    if (verdict !== "accepted" && ofOffers.has(event)) {
      const group = provider ?? module ?? "";
      const key = JSON.stringify([event, group, version]);
      if (this.#offers.take(key, group) !== "line") return;
    }
    const { database, decisions, logger, onLost } = this.#parts;
    const { transactions } = database;
    const asked = { ...askers.getStore(), ...entry };
    const json = formatAuditEntry(asked, new Date());
    const written = JSON.parse(json) as WrittenEntry;
    // Each request has a line of its own.
    if (!deliveries.has(event))
      transactions.whenCommitted(() => logger.info(written, "audit"));
    const row = rowOf(written);
    if (!durable) {
      this.#wait(row);
      return;
    }
    try {
      if (ofOperators.has(event))
        await appendFile(decisions, `${json}\n`, { mode: 0o600, flush: true });
      await transactions.run(() => this.#insert([row]));
    } catch (error) {
      onLost(1, error);
      throw refuseToStore("a line of the audit log", error);
    }
  }

  /**
   * What is asked for, an omitted field for all, in pages and in the order of writing, and then what comes: a page without any means that nothing
   * is new for now. An entry in which one more delivery is counted comes again. Rows of a database that many processes
   * share may be seen later than others that were written after them.
   */
  async *read(
    asked: Partial<Record<"provider" | "module" | "since", string | undefined>>,
  ): AsyncGenerator<readonly WrittenEntry[], never> {
    const { provider, module, since } = asked;
    await this.flush();
    const seen = new Set<number>();
    let last = 0;
    let after = 0;
    for (;;) {
      let query = this.#parts.database.transactions.queries
        .selectFrom("events")
        .selectAll()
        .where("id", ">", after);
      if (provider !== undefined)
        query = query.where("provider", "=", provider);
      if (module !== undefined) query = query.where("module", "=", module);
      if (since !== undefined) query = query.where("at", ">=", since);
      const rows = await query.orderBy("id").limit(pageSize).execute();
      const fresh = rows.filter(({ id }) => !seen.has(id));
      for (const { id } of fresh) seen.add(id);
      after = rows.at(-1)?.id ?? after;
      last = Math.max(last, after);
      for (const id of seen) if (id <= last - overtaking) seen.delete(id);
      const isEnd = rows.length < pageSize;
      if (isEnd) after = last - overtaking;
      if (isEnd || fresh.length > 0) yield fresh.map(entryOf);
    }
  }

  /** Removes the oldest rows of each event above `most`, a few at a time. */
  async trim(most = mostKept): Promise<void> {
    const { transactions } = this.#parts.database;
    for (const event of auditEvents) {
      const rows = transactions.queries
        .selectFrom("events")
        .where("event", "=", event);
      const [last] = await rows
        .select("at")
        .orderBy("at", "desc")
        .limit(1)
        .offset(most)
        .execute();
      if (last === undefined) continue;
      const oldest = rows
        .select("id")
        .where("at", "<=", last.at)
        .orderBy("at")
        .limit(pageSize);
      const remove = () =>
        transactions.queries
          .deleteFrom("events")
          .where("id", "in", oldest)
          .executeTakeFirstOrThrow();
      for (;;) {
        const { numDeletedRows } = await transactions.run(remove, "soon");
        if (numDeletedRows < pageSize) break;
        await nextTurn();
      }
    }
  }

  async flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const { database, onLost } = this.#parts;
    const { transactions } = database;
    this.#writing = this.#writing.then(async () => {
      const rows = [...this.#waiting.values()];
      this.#waiting.clear();
      for (let start = 0; start < rows.length; start += atOnce) {
        const some = rows.slice(start, start + atOnce);
        await transactions
          .run(() => this.#insert(some), "soon")
          .catch((error: unknown) => onLost(some.length, error));
        await nextTurn();
      }
    });
    await this.#writing;
  }

  #wait(row: EventRow): void {
    const key = row.counted ?? Symbol("a row of its own");
    const same = this.#waiting.get(key);
    if (same === undefined && this.#waiting.size >= mostWaiting) {
      this.#parts.onLost(1, failure("too-busy", "entries for the audit log"));
      return;
    }
    this.#waiting.set(key, { ...row, times: row.times + (same?.times ?? 0) });
    this.#timer ??= setTimeout(() => void this.flush(), writePause).unref();
  }

  async #insert(rows: readonly EventRow[]): Promise<void> {
    await this.#parts.database.transactions.queries
      .insertInto("events")
      .values(rows)
      .onConflict((conflict) =>
        conflict.column("counted").doUpdateSet({
          // Who follows the log sees it again.
          id: sql.ref("excluded.id"),
          at: sql.ref("excluded.at"),
          times: sql`events.times + excluded.times`,
        }),
      )
      .execute();
  }
}

function rowOf(written: WrittenEntry): EventRow {
  const { at, event, verdict, requestId, ...named } = written;
  const { client = null, token = null, operator = null, ...about } = named;
  const { provider = null, module = null, version = null, ...rest } = about;
  const known = { client, token, operator, provider, module, version };
  const row = { at, event, verdict, ...known, times: 1 };
  if (!deliveries.has(event)) {
    const all = JSON.stringify({ requestId, ...rest });
    return { ...row, rest: all, counted: null };
  }
  const day = at.slice(0, 10);
  const key = [day, event, client, token, provider ?? module, version, rest];
  const counted = JSON.stringify(key);
  return { ...row, rest: JSON.stringify(rest), counted };
}

function entryOf({ rest, counted, times, ...known }: EventRow): WrittenEntry {
  const all = { ...known, times: counted === null ? null : times };
  const fields = Object.entries(all).filter(([, value]) => value !== null);
  return {
    ...(Object.fromEntries(fields) as unknown as WrittenEntry),
    ...(JSON.parse(rest) as Partial<WrittenEntry>),
  };
}

/** Operators' decisions as they were made, oldest first. A line may begin with a part of one that a full disk cut short. */
export async function readDecisions(
  path: string,
): Promise<readonly WrittenEntry[]> {
  const text = (await readFile(path, "latin1").catch(unlessMissing)) ?? "";
  return text.split("\n").flatMap((line) => {
    try {
      const json = line.slice(Math.max(0, line.lastIndexOf('{"at":')));
      return [JSON.parse(json) as WrittenEntry];
    } catch {
      return [];
    }
  });
}
