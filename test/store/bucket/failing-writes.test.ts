import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { failing } from "../../scenes/failing.ts";
import { identifyBucket } from "../../../src/store/bucket/bucket-identity.ts";
import { BucketRecords } from "../../../src/store/bucket/bucket-records.ts";
import { BucketWatch } from "../../../src/store/bucket/bucket-watch.ts";
import { Bucket } from "../../../src/store/bucket/bucket.ts";
import type { RecordKey } from "../../../src/store/layout.ts";
import {
  startBucketProxy,
  type BucketProxy,
} from "../../fakes/bucket-proxy.ts";
import { bucketLimits } from "../../fakes/ceph.ts";
import {
  startLooseBucket,
  type LooseBucket,
} from "../../fakes/loose-bucket.ts";
import { makePart } from "../../scenes/bucket-configuration.ts";
import { asItIs } from "../records/record-compliance.ts";
import { makeLayout } from "../stores.ts";

let loose: LooseBucket;
let part: ReturnType<typeof makePart>;
let proxy: BucketProxy;
let bucket: Bucket;
let records: BucketRecords;

beforeAll(async () => {
  loose = await startLooseBucket({ keepsConditions: true });
});
afterAll(() => loose.stop());

beforeEach(async () => {
  part = makePart(loose);
  proxy = await startBucketProxy(part);
  bucket = new Bucket(proxy.settings, bucketLimits);
  records = new BucketRecords(bucket, "quoted", () => undefined);
  return async () => {
    await bucket.close();
    await proxy.stop();
  };
});

/** So many writes are answered with 503 before the service has them. */
function failWrites(most: number): void {
  let left = most;
  proxy.intercept = (step, asked) =>
    step === "asked" && asked.startsWith("PUT ") && left-- > 0
      ? 503
      : undefined;
}

const key: RecordKey = ["trust", "seen", "a.example", "acme"];
const contested: RecordKey = ["trust", "seen", "a.example", "contested"];
const sealed = { revision: 1, body: "{}" };

const writes: readonly (readonly [string, () => Promise<unknown>])[] = [
  ["a record that is created", () => records.create(key, {}, asItIs)],
  ["a record that is changed", () => records.change(key, asItIs, () => ({}))],
  ["a record that is carried", () => records.bring(key, sealed)],
  [
    "the epoch",
    () =>
      new BucketWatch(bucket, "a store", {
        onProblem: () => undefined,
      }).begin(),
  ],
];

describe("a bucket that takes no writes while it is read", () => {
  it.each(writes)("is what fails: %s", async (_what, write) => {
    failWrites(Infinity);
    const written = write();
    await expect(written).rejects.toThrow(failing("bucket-unreachable"));
    await expect(written).rejects.toThrow("(503)");
    const asked = proxy.asked.filter((one) => one.startsWith("PUT "));
    expect(asked.length).toBeLessThanOrEqual(4);
  });

  it.each(writes)("is tried again: %s", async (_what, write) => {
    failWrites(2);
    await write();
    const asked = proxy.asked.filter((one) => one.startsWith("PUT "));
    expect(asked).toHaveLength(3);
  });

  it("is not suspected while it takes the writes of others", async () => {
    const direct = new Bucket(part, bucketLimits);
    const others = new BucketRecords(direct, "quoted", () => undefined);
    let failed = 0;
    proxy.intercept = async (step, asked) => {
      if (step !== "asked" || !asked.startsWith("PUT ") || failed === 6)
        return undefined;
      await others.change(contested, asItIs, () => ({ n: ++failed }));
      return 503;
    };
    await records.change(contested, asItIs, (before) => ({ before }));
    expect(await others.read(contested, asItIs)).toEqual({ before: { n: 6 } });
    await direct.close();
  });

  it("is not another mirror's where its store is to begin", async () => {
    failWrites(Infinity);
    const layout = await makeLayout();
    await expect(identifyBucket(bucket, layout)).rejects.toThrow(
      "does not answer (503)",
    );
  });
});
