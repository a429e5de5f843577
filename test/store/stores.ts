import {
  RecordStore,
  type RecordKey,
} from "../../src/store/records/record-store.ts";
import {
  type RecordTable,
  recordTables,
} from "../../src/store/database/schema.ts";
import { copyFileSync, existsSync, rmSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { pino } from "pino";
import { BlobStore } from "../../src/store/blobs/blob-store.ts";
import { openDatabase } from "../../src/store/database/database.ts";
import { layOutStore, type StoreLayout } from "../../src/store/layout.ts";
import { prepareStorageDirectory } from "../../src/store/storage-directory.ts";
import { scratch } from "../running-mirror.ts";

/** A storage directory of its own, ready for stores. */
export async function makeLayout(): Promise<StoreLayout> {
  const layout = layOutStore(scratch("store"));
  await prepareStorageDirectory(layout);
  return layout;
}

/** The records of a directory, as another process has them. */
export function openRecords(layout: StoreLayout): RecordStore {
  return new RecordStore(openDatabase(layout));
}

/** What an audit log in a directory is made of; nothing may be lost. */
export function auditParts(layout: StoreLayout) {
  return {
    database: openDatabase(layout),
    decisions: layout.decisions,
    logger: pino({ enabled: false }),
    onLost: (_: number, cause: unknown) => {
      throw cause;
    },
  };
}

/** The audit log of a directory as it is stored, by time. */
export function readAuditOf(
  layout: Pick<StoreLayout, "database">,
): readonly AuditLine[] {
  const text = `SELECT json_patch(rest, json_object('at', at, 'event', event,
    'verdict', verdict, 'client', client, 'token', token, 'operator', operator,
    'provider', provider, 'module', module, 'version', version, 'times', times))
    AS line FROM events ORDER BY at, id`;
  return askDatabase(layout, text).map(
    ({ line }) => JSON.parse(String(line)) as AuditLine,
  );
}

export type AuditLine = Readonly<Record<string, string | undefined>>;

/** The archives of a directory. */
export function openBlobs(layout: StoreLayout): BlobStore {
  return new BlobStore(layout, openDatabase(layout));
}

/** Asks the database of a directory as another program would. */
export function askDatabase(
  { database }: Pick<StoreLayout, "database">,
  text: string,
  ...values: readonly string[]
) {
  const file = new DatabaseSync(database, { timeout: 5_000 });
  try {
    return file.prepare(text).all(...values);
  } finally {
    file.close();
  }
}

const where = ([table]: RecordKey) =>
  `WHERE ${recordTables[table].map((column) => `${column} = ?`).join(" AND ")}`;

/** Takes a record away; returns what puts it back. */
export function loseRecord(
  layout: Pick<StoreLayout, "database">,
  key: RecordKey,
): () => void {
  const [table, ...parts] = key;
  const text = `DELETE FROM ${table} ${where(key)} RETURNING revision, body`;
  const [found] = askDatabase(layout, text, ...parts);
  if (found === undefined) throw new Error(`there is no ${key.join("/")}`);
  const put = `INSERT INTO ${table} VALUES (${parts.map(() => "?,").join("")} ?, ?)`;
  const { revision, body } = found;
  return () =>
    askDatabase(layout, put, ...parts, String(revision), String(body));
}

/** The body of a record as it is stored; undefined where there is none. */
export function readRecord(directory: string, key: RecordKey): unknown {
  const [table, ...parts] = key;
  const text = `SELECT body FROM ${table} ${where(key)}`;
  const [found] = askDatabase(layOutStore(directory), text, ...parts);
  return found && (JSON.parse(String(found.body)) as unknown);
}

/** Every record by its name, with its revision and body. */
export function listRecords(directory: string): readonly [string, string][] {
  const layout = layOutStore(directory);
  if (!existsSync(layout.database)) return [];
  return Object.entries(recordTables).flatMap(([table, columns]) =>
    askDatabase(layout, `SELECT * FROM ${table}`).map(
      (row): [string, string] => [
        [table, ...columns.map((column) => String(row[column]))].join("/"),
        `${String(row.revision)} ${String(row.body)}`,
      ],
    ),
  );
}

/** Puts a copy of the database back, while no process works on the directory. */
export function restoreBackup(directory: string, backup: string): void {
  const { database } = layOutStore(directory);
  for (const end of ["-wal", "-shm"])
    rmSync(`${database}${end}`, { force: true });
  copyFileSync(backup, database);
}

/** Leaves it in a form that no program writes. */
export function damageRecord(
  layout: Pick<StoreLayout, "database">,
  key: RecordKey,
): void {
  const [table, ...parts] = key;
  const text = `UPDATE ${table} SET body = 'no record' ${where(key)}`;
  askDatabase(layout, text, ...parts);
}

/** Counts the records of a table. */
export function countRecords(directory: string, table: RecordTable): number {
  const text = `SELECT count(*) AS n FROM ${table}`;
  return Number(askDatabase(layOutStore(directory), text)[0]?.n);
}
