import { writeFileSync } from "node:fs";
import { open as openFile } from "node:fs/promises";
import { join } from "node:path";
import { buffer, text as readText } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parseSha256 } from "../../../src/address/hash.ts";
import { failure } from "../../../src/errors/index.ts";
import { BucketBlobs } from "../../../src/store/bucket/bucket-blobs.ts";
import { identifyBucket } from "../../../src/store/bucket/bucket-identity.ts";
import { BucketRecords } from "../../../src/store/bucket/bucket-records.ts";
import { Bucket } from "../../../src/store/bucket/bucket.ts";
import { ReplicaClock } from "../../../src/store/bucket/replica-clock.ts";
import { RecordMemory } from "../../../src/store/bucket/record-memory.ts";
import { ReplicaRecords } from "../../../src/store/bucket/replica-records.ts";
import {
  recordObject,
  type RecordKey,
  type StoreLayout,
} from "../../../src/store/layout.ts";
import { seal } from "../../../src/store/records/seal.ts";
import { bucketLimits } from "../../fakes/loose-bucket.ts";
import {
  startLooseBucket,
  type LooseBucket,
} from "../../fakes/loose-bucket.ts";
import { scratch } from "../../running-mirror.ts";
import { makePart } from "../../scenes/bucket-configuration.ts";
import { failing } from "../../scenes/failing.ts";
import { itIsABlobStore } from "../blobs/blob-compliance.ts";
import { asItIs, itIsARecordStore } from "../records/record-compliance.ts";
import { makeLayout, openRecords } from "../stores.ts";

let loose: LooseBucket;
const opened: Bucket[] = [];
beforeAll(async () => {
  loose = await startLooseBucket({ keepsConditions: true });
});
afterAll(async () => {
  for (const bucket of opened) await bucket.close();
  await loose.stop();
});

function openBucket(): Bucket {
  const bucket = new Bucket(makePart(loose), bucketLimits);
  opened.push(bucket);
  return bucket;
}

const recordsOf = (bucket: Bucket, seen?: RecordMemory) =>
  new BucketRecords(bucket, "quoted", () => undefined, seen);

function makeReplica(
  bucket: Bucket,
  layout: StoreLayout,
  epoch = NaN,
): ReplicaRecords {
  const local = openRecords(layout);
  const seen = new RecordMemory(local);
  return new ReplicaRecords({
    ...{ seen, local },
    shared: recordsOf(bucket, seen),
    compared: recordsOf(bucket),
    onDiffering: () => undefined,
    watch: { epoch, bump: () => Promise.resolve() },
  });
}

const key: RecordKey = ["trust", "seen", "a.example", "acme"];
const cutOff = failure("bucket-unreachable", "shared", "a test");

describe("records in a bucket", () => {
  itIsARecordStore(() => {
    const bucket = openBucket();
    return Promise.resolve({ open: () => recordsOf(bucket) });
  });

  it.each([
    ["cut", (text: string) => text.slice(0, -10)],
    ["changed", (text: string) => text.replace("good", "evil")],
    [
      "another's",
      (text: string) => seal(["trust", "x"], { revision: 1, body: text }),
    ],
  ])("are unknown, never absent, when they are %s", async (_, damage) => {
    const bucket = openBucket();
    const records = recordsOf(bucket);
    await records.create(key, { text: "good" }, asItIs);
    const object = await bucket.get(recordObject(key));
    const text = object ? await readText(object.body) : "";
    await bucket.put(recordObject(key), damage(text));
    for (const act of [
      () => records.read(key, asItIs),
      () => records.create(key, { text: "other" }, asItIs),
      () => records.change(key, asItIs, () => ({ text: "other" })),
    ])
      await expect(act()).rejects.toThrow(failing("record-unreadable"));
  });
});

describe("archives in a bucket", () => {
  itIsABlobStore(() => {
    const bucket = openBucket();
    const blobs = new BucketBlobs(bucket);
    const folder = scratch("bytes");
    return Promise.resolve({
      async create(sha256, bytes) {
        const file = join(folder, crypto.randomUUID());
        writeFileSync(file, bytes);
        await using handle = await openFile(file);
        await blobs.put(sha256, handle, bytes.length);
      },
      async read(sha256) {
        const found = await blobs.open(sha256);
        return found && buffer(found.body);
      },
      size: (sha256) => blobs.size(sha256),
      remove: (sha256) => blobs.delete(sha256),
      list: async () =>
        (await Array.fromAsync(bucket.list("blobs/"))).map(({ key }) =>
          parseSha256(key.slice(-64)),
        ),
    });
  });
});

describe("records with what a replica saw of them", () => {
  it.each<[string, (bucket: Bucket, old: string) => Promise<unknown>, RegExp]>([
    [
      "set back",
      (bucket, old) => bucket.put(recordObject(key), old),
      /set back: revision 2 of it was seen, and this is 1/,
    ],
    [
      "gone",
      (bucket) => bucket.delete(recordObject(key)),
      /it is gone, and was seen/,
    ],
    [
      "of the same revision and another content",
      (bucket) =>
        bucket.put(
          recordObject(key),
          seal(key, { revision: 2, body: '{"n":666}' }),
        ),
      /seen with another content/,
    ],
  ])("are unknown, never absent, when they are %s", async (_, lie, said) => {
    const bucket = openBucket();
    const layout = await makeLayout();
    const records = makeReplica(bucket, layout);
    await records.create(key, { n: 1 }, asItIs);
    const first = await bucket.get(recordObject(key));
    const old = first ? await readText(first.body) : "";
    await records.change(key, asItIs, () => ({ n: 2 }));
    await lie(bucket, old);
    // Another process of this replica, as after a restart.
    const later = makeReplica(bucket, layout);
    await expect(later.read(key, asItIs)).rejects.toThrow(said);
    await expect(later.change(key, asItIs, () => ({ n: 3 }))).rejects.toThrow(
      said,
    );
  });

  it("count while the bucket fails, absence too, and nothing else does", async () => {
    const bucket = openBucket();
    const records = makeReplica(bucket, await makeLayout());
    await records.create(key, { n: 1 }, asItIs);
    const none: RecordKey = ["trust", "decisions", "a.example", "acme"];
    expect(await records.read(none, asItIs)).toBeUndefined();
    bucket.connection.suspend(cutOff);
    expect(await records.read(key, asItIs)).toEqual({ n: 1 });
    expect(await records.read(none, asItIs)).toBeUndefined();
    for (const asked of [
      () => records.read(["trust", "seen", "a.example", "new"], asItIs),
      () => records.create(["providers", "new"], {}, asItIs),
      () => records.change(key, asItIs, () => ({ n: 2 })),
    ])
      await expect(asked()).rejects.toThrow(failing("bucket-unreachable"));
  });

  it("are read again on request, while an absence counts until the next epoch", async () => {
    const bucket = openBucket();
    const one = makeReplica(bucket, await makeLayout(), 1);
    const other = makeReplica(bucket, await makeLayout(), 1);
    expect(await one.read(key, asItIs)).toBeUndefined();
    await other.create(key, { n: 1 }, asItIs);
    expect(await one.read(key, asItIs)).toBeUndefined();
    expect(await one.read(key, asItIs, { refresh: true })).toEqual({ n: 1 });
    expect(await one.read(key, asItIs)).toEqual({ n: 1 });
  });
});

describe("the store of a bucket", () => {
  it("is one for all replicas that begin at once, and another is refused", async () => {
    const bucket = openBucket();
    const layouts = await Promise.all([1, 2, 3].map(makeLayout));
    const found = await Promise.all(
      layouts.map((layout) => identifyBucket(bucket, layout)),
    );
    expect(new Set(found.map(({ store }) => store)).size).toBe(1);
    for await (const { key: name } of bucket.list(""))
      await bucket.delete(name);
    await expect(
      identifyBucket(bucket, layouts[0] ?? expect.fail()),
    ).rejects.toThrow(/expected the store .*, found none/);
  });

  it.each([
    ["objects of another program", "x", "x"],
    ["another marker", "store.json", "{}"],
  ])("is not begun beside %s", async (_, name, text) => {
    const bucket = openBucket();
    await bucket.put(name, text);
    await expect(identifyBucket(bucket, await makeLayout())).rejects.toThrow(
      failing("bucket-foreign"),
    );
  });
});

it.each([
  [300_000, 0],
  [-300_000, -300_000],
])(
  "a replica whose bucket is %i ms ahead admits no release before its time",
  (skew, off) => {
    const now = new ReplicaClock({ skew }).now().getTime();
    expect(Math.abs(now - Date.now() - off)).toBeLessThan(10_000);
  },
);
