import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { RecordUnreadable } from "../../../src/errors/index.ts";
import { bodyOf } from "../../../src/store/bucket/bucket-connection.ts";
import { BucketRecords } from "../../../src/store/bucket/bucket-records.ts";
import { Bucket } from "../../../src/store/bucket/bucket.ts";
import { recordObject, type RecordKey } from "../../../src/store/layout.ts";
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

  it.each([
    ["cut", (text: string) => text.slice(0, -10)],
    ["changed", (text: string) => text.replace("good", "evil")],
    ["empty", () => ""],
  ])("are unknown, never absent, when they are %s", async (_, damage) => {
    const key: RecordKey = ["trust", "seen", "a.example", "acme"];
    const bucket = await openBucket();
    const told: string[] = [];
    const records = new BucketRecords(bucket, form, ({ file }) =>
      told.push(file),
    );
    await records.create(key, { text: "good" }, asItIs);
    const object = await bucket.get(recordObject(key));
    const text = (await object?.body.text()) ?? "";
    await bucket.put(recordObject(key), bodyOf(damage(text)));

    await expect(records.read(key, asItIs)).rejects.toThrow(RecordUnreadable);
    await expect(
      records.create(key, { text: "other" }, asItIs),
    ).rejects.toThrow(RecordUnreadable);
    await expect(
      records.change(key, asItIs, () => ({ text: "other" })),
    ).rejects.toThrow(RecordUnreadable);
    expect(told).toHaveLength(3);
    expect((await records.inspect(key)).readable).toBe(false);
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
    const text = (await object?.body.text()) ?? "";
    await bucket.put(recordObject(mine), bodyOf(text));
    await expect(records.read(mine, asItIs)).rejects.toThrow(RecordUnreadable);
  });
});
