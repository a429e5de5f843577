import { hash } from "node:crypto";
import { writeFileSync } from "node:fs";
import { open as openFile } from "node:fs/promises";
import { join } from "node:path";
import { buffer, text as readText } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { failure } from "../../../src/errors/index.ts";
import { failing } from "../../scenes/failing.ts";
import { ArchiveUrlKeys } from "../../../src/store/archive-url-keys.ts";
import { BucketBlobs } from "../../../src/store/bucket/bucket-blobs.ts";
import type { Sha256 } from "../../../src/address/hash.ts";
import { RecordMemory } from "../../../src/store/bucket/record-memory.ts";
import { ReplicaRecords } from "../../../src/store/bucket/replica-records.ts";
import { DiskRecords } from "../../../src/store/records/disk-records.ts";
import { seal } from "../../../src/store/records/seal.ts";
import { scratch } from "../../running-mirror.ts";
import { itIsABlobStore } from "../blobs/blob-compliance.ts";
import { makeLayout } from "../stores.ts";
import { BucketRecords } from "../../../src/store/bucket/bucket-records.ts";
import { Bucket } from "../../../src/store/bucket/bucket.ts";
import {
  recordObject,
  type RecordKey,
  type StoreLayout,
} from "../../../src/store/layout.ts";
import {
  bucketLimits,
  canRunCeph,
  startCeph,
  type Ceph,
} from "../../fakes/ceph.ts";
import { asItIs, itIsARecordStore } from "../records/record-compliance.ts";

const hasCeph = await canRunCeph();
const opened: Bucket[] = [];
let ceph: Ceph;

async function openBucket(): Promise<Bucket> {
  const bucket = new Bucket(await ceph.makeBucket(), bucketLimits);
  opened.push(bucket);
  return bucket;
}

function makeReplica(
  bucket: Bucket,
  layout: StoreLayout,
  epoch = NaN,
  now?: () => number,
): ReplicaRecords {
  const seen = new RecordMemory(layout);
  const shared = new BucketRecords(bucket, form, () => undefined, seen);
  const local = new DiskRecords(layout);
  const watch = { epoch, bump: () => Promise.resolve() };
  const compared = new BucketRecords(bucket, form, () => undefined);
  const onDiffering = () => undefined;
  const own = { seen, local, watch, ...(now && { now }) };
  return new ReplicaRecords({ ...own, shared, compared, onDiffering });
}

/** Ceph before its release 20 wants ETags without quotes. */
const form = "unquoted";

describe.runIf(hasCeph)("records in a bucket of a real Ceph", () => {
  beforeAll(async () => {
    ceph = await startCeph();
  }, 120_000);

  afterAll(async () => {
    for (const bucket of opened) await bucket.close();
    await ceph.stop();
  });

  itIsARecordStore(async () => {
    const bucket = await openBucket();
    return { open: () => new BucketRecords(bucket, form, () => undefined) };
  });

  itIsABlobStore(async () => {
    const bucket = await openBucket();
    const folder = scratch("bytes");
    const open = () => new BucketBlobs(bucket);
    return {
      async create(sha256, bytes) {
        const file = join(folder, crypto.randomUUID());
        writeFileSync(file, bytes);
        await using handle = await openFile(file);
        await open().put(sha256, handle, bytes.length);
      },
      async read(sha256) {
        const found = await open().open(sha256);
        return found && buffer(found.body);
      },
      size: (sha256) => open().size(sha256),
      remove: (sha256) => open().delete(sha256),
      async list() {
        const found = [];
        for await (const { sha256 } of open().list()) found.push(sha256);
        return found;
      },
    };
  });

  it("has large archives in parts, and nothing of one that ends too early", async () => {
    const bucket = await openBucket();
    const blobs = new BucketBlobs(bucket);
    const bytes = Buffer.alloc(65 * 1024 * 1024, "archive");
    const file = join(scratch("bytes"), "large");
    writeFileSync(file, bytes);
    await using handle = await openFile(file);
    const sha256 = hash("sha256", bytes) as Sha256;
    const cut = blobs.put(sha256, handle, bytes.length + 1);
    await expect(cut).rejects.toThrow("cut short");
    expect(await blobs.size(sha256)).toBeUndefined();
    const { Uploads = [] } = await bucket.connection.send(
      "list its uploads",
      (client) => client.listMultipartUploads({ Bucket: bucket.name }),
    );
    expect(Uploads).toEqual([]);
    await blobs.put(sha256, handle, bytes.length);
    const found = await blobs.open(sha256);
    expect(found?.size).toBe(bytes.length);
    const back = found && (await buffer(found.body));
    expect(back?.equals(bytes)).toBe(true);
    expect(await blobs.open(sha256, 1_000)).toBeUndefined();
  }, 60_000);

  describe("with what a replica saw of them", () => {
    itIsARecordStore(async () => {
      const bucket = await openBucket();
      const layout = await makeLayout();
      return { open: () => makeReplica(bucket, layout) };
    });

    const key: RecordKey = ["trust", "seen", "a.example", "acme"];

    it.each<
      [string, (bucket: Bucket, old: string) => Promise<unknown>, RegExp]
    >([
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
        (bucket) => {
          const body = JSON.stringify({ n: 666 });
          const forged = seal(key, { revision: 2, body });
          return bucket.put(recordObject(key), forged);
        },
        /seen with another content/,
      ],
    ])("are unknown, never absent, when they are %s", async (_, lie, said) => {
      const bucket = await openBucket();
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
      const stranger = makeReplica(bucket, await makeLayout());
      const elsewhere = stranger.create(["trust", "x"], { n: 1 }, asItIs);
      expect(await elsewhere).toEqual({ n: 1 });
    });

    it("are read again on request, while an absence counts until the next epoch", async () => {
      const bucket = await openBucket();
      const [one, other] = [
        makeReplica(bucket, await makeLayout(), 1),
        makeReplica(bucket, await makeLayout(), 1),
      ];
      const refresh = { refresh: true };
      expect(await one.read(key, asItIs)).toBeUndefined();
      await other.create(key, { n: 1 }, asItIs);
      expect(await one.read(key, asItIs)).toBeUndefined();
      bucket.connection.suspend(
        failure("bucket-unreachable", bucket.name, "a test"),
      );
      await expect(one.read(key, asItIs, refresh)).rejects.toThrow(
        failing("bucket-unreachable"),
      );
      bucket.connection.suspend(undefined);
      expect(await one.read(key, asItIs, refresh)).toEqual({ n: 1 });
      expect(await one.read(key, asItIs)).toEqual({ n: 1 });
    });

    it("are read again within half a minute when the replica that changed them was killed before it announced that", async () => {
      const bucket = await openBucket();
      let now = 0;
      const one = makeReplica(bucket, await makeLayout(), 1, () => now);
      const killed = makeReplica(bucket, await makeLayout(), 1);
      const read = async () => {
        const before = await one.read(key, asItIs);
        now += 30_000;
        return [before, await one.read(key, asItIs)];
      };
      expect(await one.read(key, asItIs)).toBeUndefined();
      await killed.create(key, { n: 1 }, asItIs);
      expect(await read()).toEqual([undefined, { n: 1 }]);
      await killed.change(key, asItIs, () => ({ n: 2 }));
      expect(await read()).toEqual([{ n: 1 }, { n: 2 }]);
      await bucket.delete(recordObject(key));
      await expect(read()).rejects.toThrow("it is gone, and was seen");
    });

    it("count while the bucket fails, absence too, and nothing else does", async () => {
      const bucket = await openBucket();
      const records = makeReplica(bucket, await makeLayout());
      await records.create(key, { n: 1 }, asItIs);
      const none: RecordKey = ["trust", "decisions", "a.example", "acme"];
      expect(await records.read(none, asItIs)).toBeUndefined();
      bucket.connection.suspend(
        failure("bucket-unreachable", bucket.name, "a test"),
      );
      expect(await records.read(key, asItIs)).toEqual({ n: 1 });
      expect(await records.read(none, asItIs)).toBeUndefined();
      for (const asked of [
        () => records.read(["trust", "seen", "a.example", "new"], asItIs),
        () => records.create(["providers", "new"], {}, asItIs),
        () => records.change(key, asItIs, () => ({ n: 2 })),
      ])
        await expect(asked()).rejects.toThrow(failing("bucket-unreachable"));
      bucket.connection.suspend(undefined);
      expect(await records.read(key, asItIs)).toEqual({ n: 1 });
    });
  });

  it.each([
    ["cut", (text: string) => text.slice(0, -10)],
    ["changed", (text: string) => text.replace("good", "evil")],
    ["empty", () => ""],
  ])("are unknown, never absent, when they are %s", async (_, damage) => {
    const key: RecordKey = ["trust", "seen", "a.example", "acme"];
    const bucket = await openBucket();
    const files: string[] = [];
    const records = new BucketRecords(bucket, form, ({ file }) =>
      files.push(file),
    );
    await records.create(key, { text: "good" }, asItIs);
    const object = await bucket.get(recordObject(key));
    const text = object ? await readText(object.body) : "";
    await bucket.put(recordObject(key), damage(text));

    await expect(records.read(key, asItIs)).rejects.toThrow(
      failing("record-unreadable"),
    );
    await expect(
      records.create(key, { text: "other" }, asItIs),
    ).rejects.toThrow(failing("record-unreadable"));
    await expect(
      records.change(key, asItIs, () => ({ text: "other" })),
    ).rejects.toThrow(failing("record-unreadable"));
    expect(files).toHaveLength(3);
    expect((await records.inspect(key)).readable).toBe(false);
  });

  it("have one key of archive URLs for all replicas that begin at once", async () => {
    const bucket = await openBucket();
    const opened = await Promise.all(
      Array.from({ length: 6 }, async () => {
        const records = new BucketRecords(bucket, form, () => undefined);
        return ArchiveUrlKeys.open(await makeLayout(), new Date(), records);
      }),
    );
    const secrets = opened.map((keys) => keys.secrets.map(String).join());
    expect(new Set(secrets).size).toBe(1);
  });

  it("are unknown when another's lies in their place", async () => {
    const [mine, other] = ["acme", "other"].map((name): RecordKey => [
      "trust",
      "seen",
      "a.example",
      name,
    ]) as [RecordKey, RecordKey];
    const bucket = await openBucket();
    const records = new BucketRecords(bucket, form, () => undefined);
    await records.create(other, { text: "other" }, asItIs);
    const object = await bucket.get(recordObject(other));
    const text = object ? await readText(object.body) : "";
    await bucket.put(recordObject(mine), text);
    await expect(records.read(mine, asItIs)).rejects.toThrow(
      failing("record-unreadable"),
    );
  });
});
