import { expect, it, onTestFinished } from "vitest";
import { failure, type Failure } from "../../../src/errors/index.ts";
import { failing } from "../../scenes/failing.ts";
import { BucketRecords } from "../../../src/store/bucket/bucket-records.ts";
import { Bucket } from "../../../src/store/bucket/bucket.ts";
import { RecordMemory } from "../../../src/store/bucket/record-memory.ts";
import { ReplicaRecords } from "../../../src/store/bucket/replica-records.ts";
import type { RecordKey } from "../../../src/store/layout.ts";
import { DiskRecords } from "../../../src/store/records/disk-records.ts";
import { bucketLimits } from "../../fakes/ceph.ts";
import { startLooseBucket } from "../../fakes/loose-bucket.ts";
import { makePart } from "../../scenes/bucket-configuration.ts";
import { asItIs } from "../records/record-compliance.ts";
import { makeLayout } from "../stores.ts";

const key: RecordKey = ["trust", "seen", "a.example", "acme"];

async function prepare() {
  const loose = await startLooseBucket({ keepsConditions: true });
  const bucket = new Bucket(makePart(loose), bucketLimits);
  onTestFinished(async () => {
    await bucket.close();
    await loose.stop();
  });
  const layout = await makeLayout();
  const unreadable: Failure<"record-unreadable">[] = [];
  const seen = new RecordMemory(layout);
  const shared = new BucketRecords(
    bucket,
    "quoted",
    (error) => unreadable.push(error),
    seen,
  );
  const records = new ReplicaRecords({
    ...{ shared, seen, compared: shared },
    local: new DiskRecords(layout),
    onDiffering: () => undefined,
    watch: { epoch: 1, bump: () => Promise.resolve() },
  });
  return { bucket, records, unreadable };
}

const readNone = () => {
  throw new SyntaxError("of another form");
};

it("what was seen in an unknown form is unreadable, while the bucket fails and when it was just looked at, too", async () => {
  const { bucket, records, unreadable } = await prepare();
  await records.create(key, { keys: "newer" }, asItIs);
  expect(await records.read(key, asItIs)).toEqual({ keys: "newer" });
  await expect(records.read(key, readNone)).rejects.toThrow(
    failing("record-unreadable"),
  );
  bucket.connection.suspend(failure("bucket-unreachable", "shared", "cut off"));
  const options = { refresh: true };
  const reading = records.read(key, readNone, options);
  await expect(reading).rejects.toThrow(failing("record-unreadable"));
  await expect(reading).rejects.toThrow("not in the form of its kind");
  expect(unreadable).toHaveLength(2);
  expect(await records.read(key, asItIs, options)).toEqual({ keys: "newer" });
});
