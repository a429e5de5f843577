import { createHash } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import type { Sha256 } from "../../src/address/hash.ts";
import {
  blobPath,
  recordPaths,
  type RecordKey,
  type StoreLayout,
} from "../../src/store/layout.ts";
import { listRecords } from "../../src/store/records/listing.ts";
import { readSettled } from "../../src/store/records/record-copies.ts";
import { seal } from "../../src/store/records/seal.ts";
import { makeLayout } from "../store/stores.ts";

export const firsts = (n: number): RecordKey => [
  "providers",
  "a.example",
  `p${n}`,
];
export const namespace: RecordKey = [
  "trust",
  "namespaces",
  "a.example",
  "acme",
];

export function plantRecord(
  layout: StoreLayout,
  key: RecordKey,
  body: unknown,
  revision = 1,
): void {
  const text = seal(key, { revision, body: JSON.stringify(body) });
  for (const path of recordPaths(layout, key)) plant(path, text);
}

export function plantArchive(layout: StoreLayout, bytes: Buffer): Sha256 {
  const sha256 = createHash("sha256").update(bytes).digest("hex") as Sha256;
  plant(blobPath(layout, sha256), bytes);
  return sha256;
}

function plant(path: string, content: string | Buffer): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
}

export async function makeStore(
  records: number,
  archives: number,
): Promise<StoreLayout> {
  const layout = await makeLayout();
  for (let n = 0; n < records - 1; n++) plantRecord(layout, firsts(n), { n });
  plantRecord(layout, namespace, { keys: ["A"] }, 3);
  for (let n = 0; n < archives; n++)
    plantArchive(layout, Buffer.from(`archive ${n} `.repeat(1_000)));
  return layout;
}

/** Lists a directory's records one by one. */
export async function readRecords(
  layout: StoreLayout,
): Promise<readonly string[]> {
  const found: string[] = [];
  for await (const key of listRecords(layout)) {
    const settled = await readSettled(layout, key);
    found.push(`${key.join("/")} ${JSON.stringify(settled)}`);
  }
  return found.toSorted();
}
