import { mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { TrustStore } from "../../../src/mirror/trust/trust-store.ts";
import { BucketRecords } from "../../../src/store/bucket/bucket-records.ts";
import { Bucket } from "../../../src/store/bucket/bucket.ts";
import { DiskRecords } from "../../../src/store/records/disk-records.ts";
import type { RecordStore } from "../../../src/store/records/record-store.ts";
import { bucketLimits } from "../../fakes/ceph.ts";
import {
  startLooseBucket,
  type LooseBucket,
} from "../../fakes/loose-bucket.ts";
import { makePart } from "../../scenes/bucket-configuration.ts";
import { revokeK } from "../../scenes/trust-records.ts";
import { makeLayout } from "../stores.ts";
import { asItIs } from "./record-compliance.ts";

let loose: LooseBucket;
let bucket: Bucket;

beforeAll(async () => {
  loose = await startLooseBucket({ keepsConditions: true });
  bucket = new Bucket(makePart(loose), bucketLimits);
});
afterAll(async () => {
  await bucket.close();
  await loose.stop();
});

/** Records, and what puts something else beside them. */
type Place = () => Promise<{
  readonly records: RecordStore;
  readonly plant: (name: string) => Promise<unknown> | void;
}>;

const places: readonly (readonly [string, Place])[] = [
  [
    "a directory",
    async () => {
      const layout = await makeLayout();
      const plant = (name: string) => {
        const path = join(layout.records, name);
        mkdirSync(dirname(path), { recursive: true });
        writeFileSync(path, "no record");
      };
      return { records: new DiskRecords(layout), plant };
    },
  ],
  [
    "a bucket",
    () =>
      Promise.resolve({
        records: new BucketRecords(bucket, "quoted", () => undefined),
        plant: (name) => bucket.put(`records/v1/${name}`, "no record"),
      }),
  ],
];

/** File systems, people and other programs write these. */
const strangers = [
  "trust/namespaces/@eaDir/acme.json",
  "trust/namespaces/a folder/acme.json",
  "trust/namespaces/a.example/acme (copy).json",
  "trust/namespaces/a.example/._acme.json",
  "trust/contacts/.snapshot/a.example/acme.json",
  "providers/a.example/other/#recycle/1.0.0.json",
];

it.each(places)(
  "what others put beside the records of %s is passed over, and hides none of them",
  async (_, make) => {
    const { records, plant } = await make();
    const store = new TrustStore(records);
    const namespace = { hostname: "a.example" as never, namespace: "acme" };
    await store.decide(namespace, revokeK);
    for (const name of strangers) await plant(name);
    expect(await store.list()).toEqual([namespace]);
    const found = await Array.fromAsync(store.readAll());
    expect(found.filter((one) => "problem" in one)).toEqual([]);
    const other = { ...namespace, namespace: "other" };
    expect((await store.read(other)).decisions.keys).toEqual([]);
    const keys = await Array.fromAsync(records.listAll());
    expect(keys.map((key) => key.join("/"))).toEqual([
      "trust/marks/a.example/acme",
      "trust/namespaces/a.example/acme",
    ]);
    for (const key of keys)
      expect(await records.read(key, asItIs)).toBeDefined();
  },
);
