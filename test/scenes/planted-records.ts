import { openDatabase } from "../../src/store/database/database.ts";
import { layOutStore } from "../../src/store/layout.ts";
import type { RecordKey } from "../../src/store/records/record-store.ts";
import { askDatabase } from "../store/stores.ts";

/** Writes records as the store would, all at once. */
export function plantRecords(
  directory: string,
  records: readonly (readonly [RecordKey, unknown])[],
): void {
  const layout = layOutStore(directory);
  void openDatabase(layout).close();
  const tables = Map.groupBy(records, ([[table]]) => table);
  for (const [table, own] of tables) {
    const rows = own.map(([[, ...parts], body]) => [
      ...parts,
      JSON.stringify(body),
    ]);
    const [first = []] = rows;
    const values = first.map((_, at) => `value ->> ${at},`);
    const text = `INSERT INTO ${table}
      SELECT ${values.slice(0, -1).join("")} 1, value ->> ${first.length - 1} FROM json_each(?)`;
    askDatabase(layout, text, JSON.stringify(rows));
  }
}

/** The record of a namespace, which is never dropped. */
export function namespaceOf(name: string): readonly [RecordKey, unknown] {
  const decisions = { keys: [], contents: [] };
  const body = { firstKey: null, providerKeys: [], decisions };
  return [["namespaces", "registry.terraform.io", name], body];
}
