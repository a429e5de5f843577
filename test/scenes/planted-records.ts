import { openDatabase } from "../../src/store/database/database.ts";
import { layOutStore, type RecordKey } from "../../src/store/layout.ts";
import { askDatabase } from "../store/stores.ts";

/** Writes records as the store would, all at once. */
export function plantRecords(
  directory: string,
  records: readonly (readonly [RecordKey, unknown])[],
): void {
  const layout = layOutStore(directory);
  void openDatabase(layout).close();
  const rows = records.map(([key, body]) => ({
    ...{ folder: key.slice(0, -1).join("/"), name: key.at(-1) },
    body: JSON.stringify(body),
  }));
  const text = `INSERT INTO records (folder, name, revision, body)
    SELECT value ->> 'folder', value ->> 'name', 1, value ->> 'body' FROM json_each(?)`;
  askDatabase(layout, text, JSON.stringify(rows));
}

/** The record of a namespace, which is never dropped. */
export function namespaceOf(name: string): readonly [RecordKey, unknown] {
  const decisions = { keys: [], contents: [] };
  const body = { firstKey: null, providerKeys: [], decisions };
  return [["trust", "namespaces", "registry.terraform.io", name], body];
}
