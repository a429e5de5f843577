import {
  closeSync,
  existsSync,
  openSync,
  readdirSync,
  statSync,
} from "node:fs";
import { backup, DatabaseSync, type StatementSync } from "node:sqlite";
import { join } from "node:path";
import {
  Kysely,
  sql,
  type SqliteDatabase,
  SqliteDialect,
  type SqliteStatement,
} from "kysely";
import { LRUCache } from "lru-cache";
import { failure, ProvenderError } from "../../errors/index.ts";
import { isDamage, lacksRoom } from "../file-failure.ts";
import type { StoreLayout } from "../layout.ts";
import { type DatabaseServer, openPostgres } from "./postgres.ts";
import {
  nameRecord,
  packageTable,
  recordTables,
  type Schema,
} from "./schema.ts";
import { type Database, Transactions } from "./transactions.ts";

/** Changes that are kept; a process that looks later reads everything again. */
const keptChanges = 10_000;

const makeRecordTable = ([table, key]: readonly [
  string,
  readonly string[],
]): string => {
  const noteChange = (event: string, row: string) => `
    CREATE TRIGGER ${table}_${event.toLowerCase()} AFTER ${event} ON ${table} BEGIN
      INSERT INTO changes (record) VALUES (${nameRecord(table, key, row)});
      DELETE FROM changes WHERE number <= last_insert_rowid() - ${keptChanges};
    END;`;
  return `CREATE TABLE ${table} (
    ${key.map((column) => `${column} TEXT NOT NULL,`).join(" ")}
    revision INTEGER NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (${key.join()})
  ) STRICT;
  ${noteChange("INSERT", "new")} ${noteChange("UPDATE", "new")} ${noteChange("DELETE", "old")}`;
};

/** What makes each layout of the database of the one before it; `user_version` counts them. */
const migrations = [
  `CREATE TABLE changes (
    number INTEGER PRIMARY KEY,
    record TEXT NOT NULL
  ) STRICT;
  ${Object.entries(recordTables).map(makeRecordTable).join("\n")}
  CREATE TABLE events (
    id INTEGER PRIMARY KEY,
    at TEXT NOT NULL,
    event TEXT NOT NULL,
    verdict TEXT NOT NULL,
    client TEXT,
    token TEXT,
    operator TEXT,
    provider TEXT COLLATE NOCASE,
    module TEXT COLLATE NOCASE,
    version TEXT,
    rest TEXT NOT NULL,
    counted TEXT UNIQUE,
    times INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX events_by_time ON events (at);
  CREATE INDEX events_by_kind ON events (event, at);
  CREATE INDEX events_by_provider ON events (provider, id) WHERE provider IS NOT NULL;
  CREATE INDEX events_by_module ON events (module, id) WHERE module IS NOT NULL;
  CREATE TABLE uses (
    sha256 TEXT PRIMARY KEY,
    at INTEGER NOT NULL
  ) STRICT`,
  `${packageTable}
  CREATE TRIGGER packages_delete AFTER DELETE ON releases BEGIN
    DELETE FROM packages WHERE (hostname, namespace, type, version)
      = (old.hostname, old.namespace, old.type, old.version);
  END;
  INSERT INTO packages
  SELECT hostname, namespace, releases.type, version, pinned.key, pinned.value,
    body ->> '$.pinned.at', body ->> '$.pinned.signedBy'
  FROM releases, json_each(iif(json_valid(body), body, '{}'), '$.pinned.content') AS pinned;
  ALTER TABLE uses ADD COLUMN size INTEGER`,
];

/** Milliseconds for which one process waits until another one has written. */
const busyTimeout = 5_000;

/** Others write before, or after: a transaction that is open never fails for them. */
const begin = "BEGIN IMMEDIATE";
/** Waiting for another process's transaction must not stop everything else. */
const atOnce = "PRAGMA busy_timeout = 0";

const statements = {
  begin: {
    durable: [atOnce, begin],
    soon: [atOnce, "PRAGMA synchronous = NORMAL", begin],
  },
  end: [`PRAGMA busy_timeout = ${busyTimeout}`, "PRAGMA synchronous = FULL"],
};

/** SQLITE_BUSY: another process's transaction is open. */
function isOutpaced(error: unknown): boolean {
  return (error as { readonly errcode?: unknown }).errcode === 5;
}

/** Pages of the log after which it is written back: bounds what a start after a kill reads. */
const checkpointPages = 1_000;

/**
 * Opens the database of a storage directory, and makes it where there is none, or the one of a `server`. What was
 * committed survives a power cut. Throws database-missing where there are archives without one, database-damaged,
 * database-too-new, store-too-old and store-unusable.
 */
export function openDatabase(
  { database: path, directory, blobs }: StoreLayout,
  server?: DatabaseServer,
): Database {
  if (existsSync(join(directory, "records")))
    throw failure("store-too-old", directory);
  const hasArchives = () => existsSync(blobs) && readdirSync(blobs).length > 0;
  if (server !== undefined) return openPostgres(server, hasArchives);
  try {
    if (isEmpty(path) && hasArchives()) throw failure("database-missing", path);
    // SQLite would make it readable for others.
    if (!existsSync(path)) closeSync(openSync(path, "a", 0o600));
    return openSqlite(path);
  } catch (error) {
    if (error instanceof ProvenderError) throw error;
    const { message } = error as Error;
    throw isDamage(error)
      ? failure("database-damaged", path, message, { cause: error })
      : failure("store-unusable", directory, message, { cause: error });
  }
}

/** Opens a file of SQLite, or `:memory:`, and makes its tables where there are none. */
export function openSqlite(path: string): Database {
  const file = openFile(path);
  const dialect = new SqliteDialect({ database: adapt(file) });
  const queries = new Kysely<Schema>({ dialect });
  const transactions = new Transactions(queries, statements, isOutpaced);
  return {
    transactions,
    findChanges: watchChanges(file, transactions),
    measure: async () => {
      const { rows } = await sql<{ readonly bytes: number }>`
        SELECT (page_count - freelist_count) * page_size AS bytes
        FROM pragma_page_count, pragma_freelist_count, pragma_page_size
      `.execute(transactions.queries);
      return rows[0]?.bytes ?? 0;
    },
    problem: undefined,
    close: () => {
      file.close();
      return Promise.resolve();
    },
  };
}

/**
 * A full disk has no room for the memory that processes share beside the database. A start on one reads all the same, as
 * the only process.
 */
function openFile(path: string, isAlone = false): DatabaseSync {
  const file = new DatabaseSync(path, { timeout: busyTimeout });
  try {
    if (isAlone) file.exec("PRAGMA locking_mode = EXCLUSIVE");
    prepare(file, path);
    return file;
  } catch (error) {
    file.close();
    if (isAlone || !lacksRoom(error)) throw error;
    return openFile(path, true);
  }
}

const nothing: ReadonlySet<string> = new Set();

/** Asks for what changed only once another process has written something; this process's own changes are among it. */
function watchChanges(
  file: DatabaseSync,
  transactions: Transactions,
): Database["findChanges"] {
  const data = file.prepare("PRAGMA data_version");
  const readVersion = () => Number(data.get()?.data_version);
  const last = file.prepare("SELECT max(number) AS number FROM changes").get();
  let seen = { version: readVersion(), change: Number(last?.number) };
  return async () => {
    const version = readVersion();
    if (version === seen.version) return nothing;
    const since = seen.change;
    const found = await transactions.queries
      .selectFrom("changes")
      .select(["number", "record"])
      .where("number", ">=", since)
      .orderBy("number")
      .execute();
    seen = { version, change: found.at(-1)?.number ?? 0 };
    // The last one seen is there, unless too many came since.
    const isWhole = since > 0 && found[0]?.number === since;
    return isWhole
      ? new Set(found.slice(1).map(({ record }) => record))
      : undefined;
  };
}

/** Copies the database of a directory while others may use it. Throws database-missing where there is none. */
export async function backUpDatabase(
  { database }: StoreLayout,
  path: string,
): Promise<void> {
  if (isEmpty(database)) throw failure("database-missing", database);
  const file = new DatabaseSync(database, { timeout: busyTimeout });
  try {
    await backup(file, path, { rate: backupPages });
  } finally {
    file.close();
  }
}

/** Pages that are copied at once, while writers wait. */
const backupPages = 500;

function prepare(file: DatabaseSync, path: string): void {
  file.exec(
    `PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = ${checkpointPages}`,
  );
  const [check] = file.prepare("PRAGMA quick_check(1)").all();
  const found = check?.quick_check;
  if (found !== "ok") throw failure("database-damaged", path, String(found));
  const version = readVersion(file);
  const newest = migrations.length;
  if (version > newest)
    throw failure("database-too-new", path, version, newest);
  if (version === newest) return;
  file.exec(begin);
  // The version is looked at again, as another process may have been first.
  for (const step of migrations.slice(readVersion(file))) file.exec(step);
  file.exec(`PRAGMA user_version = ${newest}; COMMIT`);
}

function readVersion(file: DatabaseSync): number {
  return Number(file.prepare("PRAGMA user_version").get()?.user_version);
}

function isEmpty(path: string): boolean {
  return (statSync(path, { throwIfNoEntry: false })?.size ?? 0) === 0;
}

/** Texts of statements that are kept prepared; there are a few dozen. */
const mostPrepared = 200;

/** What Kysely expects of a driver, over Node's own. */
function adapt(file: DatabaseSync): SqliteDatabase {
  const prepared = new LRUCache<string, SqliteStatement>({
    max: mostPrepared,
    memoMethod: (text) => adaptStatement(file.prepare(text)),
  });
  return {
    prepare: (text) => prepared.memo(text),
    close: () => file.close(),
  };
}

/** Rows come as arrays, and get their names here: Node's own objects are slow to make and to read. */
function adaptStatement(statement: StatementSync): SqliteStatement {
  const columns = statement.columns().map(({ name }) => name);
  statement.setReturnArrays(true);
  type Values = Parameters<StatementSync["all"]>;
  const nameCells = (cells: unknown) => {
    const row: Record<string, unknown> = {};
    let at = 0;
    for (const column of columns) row[column] = (cells as unknown[])[at++];
    return row;
  };
  return {
    reader: columns.length > 0,
    all: (values) => statement.all(...(values as Values)).map(nameCells),
    run: (values) => statement.run(...(values as Values)),
    iterate: (values) =>
      statement.iterate(...(values as Values)).map(nameCells),
  };
}
