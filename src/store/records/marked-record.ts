import type { RecordKey } from "../layout.ts";
import type { ReadBody, RecordStore } from "./record-store.ts";

/** A record whose loss is noticed, because its mark is written after it. */
export interface MarkedRecord {
  readonly key: RecordKey;
  /** Undefined for a record that may be lost. */
  readonly mark: RecordKey | undefined;
  /** Other cure of a loss, behind that a backup is restored. */
  readonly orElse?: string;
}

/** Returns undefined for a record that never was. */
export async function readMarked<T>(
  records: RecordStore,
  { key, mark, orElse = "" }: MarkedRecord,
  readBody: ReadBody<T>,
): Promise<T | undefined> {
  const found = await records.read(key, readBody);
  if (found !== undefined || mark === undefined) return found;
  if ((await records.read(mark, asItIs)) === undefined) return undefined;
  // Another replica may have written it meanwhile.
  const late = await records.read(key, readBody, { refresh: true });
  return late ?? records.refuse(key, `${lost}${orElse}`);
}

/** Changes a record, then marks it; where a crash comes in between, the next change does. Durable on return. */
export async function changeMarked<T>(
  records: RecordStore,
  { key, mark }: MarkedRecord,
  readBody: ReadBody<T>,
  change: (before: T | undefined) => unknown,
): Promise<void> {
  let exists = false as boolean;
  await records.change(key, readBody, (before) => {
    const after = change(before);
    exists = after !== undefined;
    return after;
  });
  if (exists && mark !== undefined) await records.create(mark, {}, asItIs);
}

/** Removes a record and then its mark: one that was cut short can be repeated. */
export async function removeMarked(
  records: RecordStore,
  { key, mark }: MarkedRecord,
): Promise<void> {
  await records.remove(key);
  if (mark !== undefined) await records.remove(mark);
}

const asItIs = (body: unknown) => body;

const lost =
  "it is missing, and a record that was written after it exists: restore it from a backup";
