import type { RecordTable } from "../database/schema.ts";

/** A record's table, and the values of its key. */
export type RecordKey = readonly [table: RecordTable, ...parts: string[]];

export function isKeyPart(text: string): boolean {
  return /^[A-Za-z0-9][A-Za-z0-9._:+/-]*$/.test(text);
}

/** True for records that can be made again: the hashes of archives, and the keys of their URLs. All others are trust and decisions. */
export function isRebuildable([table]: RecordKey): boolean {
  return ["package_hashes", "wrong_archives", "secrets"].includes(table);
}
