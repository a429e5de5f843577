import {
  Kysely,
  PostgresDialect,
  type PostgresPool,
  type PostgresPoolClient,
} from "kysely";
import type { Pool, PoolClient } from "pg";
import { failure, type Failure, ProvenderError } from "../../errors/index.ts";
import { recordTables } from "../records/record-tables.ts";
import { nameRecord, type Schema } from "./schema.ts";
import { PostgresWatch } from "./postgres-watch.ts";
import { type Database, Transactions } from "./transactions.ts";

/** A PostgreSQL that many daemons share. */
export interface DatabaseServer {
  /** Has a password. */
  readonly url: string;
  /** Hears why it does not answer; undefined once it does again. */
  readonly onProblem: (problem: string | undefined) => void;
}

/** Milliseconds, and connections of one process: clients wait 8 s for an answer. */
const limits = {
  connectionTimeoutMillis: 2_000,
  statement_timeout: 3_000,
  query_timeout: 3_500,
  idle_in_transaction_session_timeout: 10_000,
  keepAlive: true,
  max: 8,
};

const statements = {
  begin: {
    durable: ["BEGIN"],
    soon: ["BEGIN", "SET LOCAL synchronous_commit = off"],
  },
  end: [],
};

/** SQLSTATE of transactions that stood in each other's way. */
const outpaced: ReadonlySet<unknown> = new Set(["40001", "40P01"]);

const makeRecordTable = ([table, key]: readonly [
  string,
  readonly string[],
]): string => `
  CREATE TABLE ${table} (
    ${key.map((column) => `${column} TEXT COLLATE "C" NOT NULL,`).join(" ")}
    revision INTEGER NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (${key.join()})
  );
  CREATE FUNCTION note_${table}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    PERFORM pg_notify('provender', CASE TG_OP
      WHEN 'TRUNCATE' THEN ''
      WHEN 'DELETE' THEN ${nameRecord(table, key, "OLD")}
      ELSE ${nameRecord(table, key, "NEW")} END);
    RETURN NULL;
  END $$;
  CREATE TRIGGER ${table}_row AFTER INSERT OR UPDATE OR DELETE ON ${table}
    FOR EACH ROW EXECUTE FUNCTION note_${table}();
  CREATE TRIGGER ${table}_all AFTER TRUNCATE ON ${table}
    FOR EACH STATEMENT EXECUTE FUNCTION note_${table}();`;

/** What makes each layout of the database of the one before it; the table `layout` counts them. */
const migrations = [
  `${Object.entries(recordTables).map(makeRecordTable).join("\n")}
  CREATE TABLE uses (
    sha256 TEXT PRIMARY KEY,
    at DOUBLE PRECISION NOT NULL
  );
  CREATE TABLE events (
    id INTEGER GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at TEXT COLLATE "C" NOT NULL,
    event TEXT NOT NULL,
    verdict TEXT NOT NULL,
    client TEXT,
    token TEXT,
    operator TEXT,
    provider TEXT,
    module TEXT,
    version TEXT,
    rest TEXT NOT NULL,
    counted TEXT UNIQUE,
    times INTEGER NOT NULL
  );
  CREATE INDEX events_by_time ON events (at);
  CREATE INDEX events_by_kind ON events (event, at);
  CREATE INDEX events_by_provider ON events (provider, at) WHERE provider IS NOT NULL;
  CREATE INDEX events_by_module ON events (module, at) WHERE module IS NOT NULL;`,
];

/** Number of the lock under which one process migrates while others wait. */
const migrationLock = 7_770_642;

/**
 * Opens a shared database, which is connected to when it is first asked, and makes its tables where there are none, unless
 * this process has `archives` of an earlier one. Everything that is asked of it throws database-unreachable while it does
 * not answer, database-missing and database-too-new.
 */
export function openPostgres(
  { url, onProblem }: DatabaseServer,
  hasArchives: () => boolean,
): Database {
  const place = placeOf(url);
  const fail = (error: unknown) => asUnreachable(place, error);
  const settings = { ...limits, connectionString: url };
  const tell = (error: unknown) =>
    error === undefined ? undefined : fail(error).sentence;
  const watch = new PostgresWatch(settings, (error) => onProblem(tell(error)));
  const open = async () => {
    const { Pool } = await import("pg");
    const pool = new Pool(settings);
    // One that is not in use was closed by the server.
    pool.on("error", () => undefined);
    pool.on("connect", (client) => watch.own.add(numberOf(client)));
    pool.on("remove", (client) => watch.own.delete(numberOf(client)));
    try {
      await migrate(pool, place, hasArchives);
      return guard(pool, watch, fail);
    } catch (error) {
      await pool.end();
      throw error instanceof ProvenderError ? error : fail(error);
    }
  };
  const queries = new Kysely<Schema>({
    dialect: new PostgresDialect({ pool: open }),
  });
  watch.start();
  return {
    transactions: new Transactions(queries, statements, isOutpaced),
    findChanges: () => Promise.resolve(watch.takeChanges()),
    measure: () => Promise.resolve(0),
    get problem() {
      return tell(watch.problem);
    },
    close: async () => {
      await Promise.all([watch.close(), queries.destroy()]);
    },
  };
}

/** Returns where a server's database is, once that answered; makes nothing there. */
export async function probePostgres(url: string): Promise<string> {
  const { Client } = await import("pg");
  const client = new Client({ ...limits, connectionString: url });
  const place = placeOf(url);
  try {
    await client.connect();
    await client.query("SELECT 1");
    return place;
  } catch (error) {
    throw asUnreachable(place, error);
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** Processes that start at once wait for the first one. */
async function migrate(
  pool: Pool,
  place: string,
  hasArchives: () => boolean,
): Promise<void> {
  const client = await pool.connect();
  let isDone = false;
  try {
    await client.query(
      `BEGIN; SELECT pg_advisory_xact_lock(${migrationLock});
      CREATE TABLE IF NOT EXISTS layout (version INTEGER NOT NULL)`,
    );
    const { rows } = await client.query<{ readonly version: number }>(
      "SELECT version FROM layout",
    );
    const version = rows[0]?.version ?? 0;
    const newest = migrations.length;
    if (version > newest)
      throw failure("database-too-new", place, version, newest);
    if (version === 0 && hasArchives())
      throw failure("database-missing", place);
    for (const step of migrations.slice(version)) await client.query(step);
    await client.query(
      `DELETE FROM layout; INSERT INTO layout VALUES (${newest}); COMMIT`,
    );
    isDone = true;
  } finally {
    // A connection that ends takes its transaction back.
    client.release(!isDone);
  }
}

/** The same connections, whose failures are of the table, and which are not waited for while the server does not answer. */
function guard(
  pool: Pool,
  watch: PostgresWatch,
  fail: (error: unknown) => Failure<"database-unreachable">,
): PostgresPool {
  const connect = async (): Promise<PostgresPoolClient> => {
    if (watch.problem !== undefined) throw fail(watch.problem);
    const client = await pool.connect().catch((error: unknown) => {
      throw fail(error);
    });
    let isBroken = false;
    const query = (text: string, values: readonly unknown[]) =>
      client.query(text, [...values]).catch((error: unknown) => {
        isBroken = true;
        throw fail(error);
      });
    const release = () => client.release(isBroken);
    return { query, release } as unknown as PostgresPoolClient;
  };
  return { options: pool.options, connect, end: () => pool.end() };
}

/** Where the database is, without user and password. */
function placeOf(url: string): string {
  const { host, pathname } = new URL(url);
  return `${host}${pathname}`;
}

function asUnreachable(
  place: string,
  cause: unknown,
): Failure<"database-unreachable"> {
  // Of many addresses, the one that was tried last.
  const last =
    cause instanceof AggregateError ? (cause.errors.at(-1) as unknown) : cause;
  const { message } = last as Error;
  return failure("database-unreachable", place, message, { cause });
}

function isOutpaced(error: unknown): boolean {
  const { cause } = error as { readonly cause?: { readonly code?: unknown } };
  return outpaced.has(cause?.code);
}

/** The server's number of a connection, which the types do not have. */
function numberOf(client: PoolClient): number {
  return (client as unknown as { readonly processID: number }).processID;
}
