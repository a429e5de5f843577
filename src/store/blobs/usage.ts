import type { Sha256 } from "../../address/hash.ts";
import type { UseRow } from "../database/schema.ts";
import type { Database } from "../database/transactions.ts";

/** Milliseconds between two writes, for any number of used archives. */
const interval = 5_000;
/** Uses that wait for a database that takes no writes. */
const mostPending = 100_000;
/** Rows of one statement. */
const atOnce = 1_000;
/** Milliseconds after which a use is forgotten; the time that the archive was stored counts then. */
const keptFor = 366 * 24 * 60 * 60 * 1000;

type Use = Omit<UseRow, "sha256">;

/** Last uses of archives, over restarts. */
export class BlobUsage {
  readonly #database: Database;
  readonly #pending = new Map<Sha256, Use>();
  readonly #open = new Map<Sha256, number>();
  #writing: Promise<void> = Promise.resolve();
  #timer: NodeJS.Timeout | undefined;

  constructor(database: Database) {
    this.#database = database;
  }

  /** The archive is in use until the returned function is called. */
  begin(sha256: Sha256): () => void {
    this.#open.set(sha256, (this.#open.get(sha256) ?? 0) + 1);
    this.note(sha256);
    return () => {
      const others = (this.#open.get(sha256) ?? 1) - 1;
      if (others > 0) this.#open.set(sha256, others);
      else this.#open.delete(sha256);
      this.note(sha256);
    };
  }

  /** True for an archive that this process has open. */
  isOpen(sha256: Sha256): boolean {
    return this.#open.has(sha256);
  }

  /** It is used now, or `stored` with so many bytes. */
  note(sha256: Sha256, stored?: number): void {
    const before = this.#pending.get(sha256);
    const size = stored ?? before?.size ?? null;
    if (this.#pending.size < mostPending || before !== undefined)
      this.#pending.set(sha256, { at: Date.now(), size });
    this.#timer ??= setTimeout(() => void this.flush(), interval).unref();
  }

  async read(): Promise<ReadonlyMap<Sha256, Use>> {
    await this.flush();
    const rows = await this.#database.transactions.queries
      .selectFrom("uses")
      .selectAll()
      .execute();
    const uses = new Map<Sha256, Use>();
    for (const row of rows) uses.set(row.sha256, row);
    for (const [sha256, { at, size }] of this.#pending)
      uses.set(sha256, { at, size: size ?? uses.get(sha256)?.size ?? null });
    return uses;
  }

  /** Writes what is not written yet; a database that takes nothing is tried again with the next use. */
  async flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#writing = this.#writing.then(() => this.#write());
    await this.#writing;
  }

  /** Removes what is very old. */
  async trim(): Promise<void> {
    const { transactions } = this.#database;
    const trim = () =>
      transactions.queries
        .deleteFrom("uses")
        .where("at", "<", Date.now() - keptFor)
        .execute();
    await transactions.run(trim, "soon");
  }

  async #write(): Promise<void> {
    const { transactions } = this.#database;
    const uses = [...this.#pending];
    for (let start = 0; start < uses.length; start += atOnce)
      try {
        const some = uses.slice(start, start + atOnce);
        const insert = () =>
          transactions.queries
            .insertInto("uses")
            .values(some.map(([sha256, use]) => ({ sha256, ...use })))
            .onConflict((conflict) =>
              conflict
                .column("sha256")
                .doUpdateSet((set) => ({
                  at: set.ref("excluded.at"),
                  size: set.fn.coalesce("excluded.size", "uses.size"),
                }))
                .whereRef("uses.at", "<=", "excluded.at"),
            )
            .execute();
        await transactions.run(insert, "soon");
        for (const [sha256, use] of some)
          if (this.#pending.get(sha256) === use) this.#pending.delete(sha256);
      } catch {
        return;
      }
  }
}
