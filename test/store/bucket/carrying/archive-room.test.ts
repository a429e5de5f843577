import { afterAll, expect, it } from "vitest";
import { BlobStore } from "../../../../src/store/blobs/blob-store.ts";
import { checkBucket } from "../../../../src/store/bucket/bucket-identity.ts";
import { Bucket } from "../../../../src/store/bucket/bucket.ts";
import { DiskRecords } from "../../../../src/store/records/disk-records.ts";
import { bucketLimits } from "../../../fakes/ceph.ts";
import { startLooseBucket } from "../../../fakes/loose-bucket.ts";
import { makePart } from "../../../scenes/bucket-configuration.ts";
import { makeStore } from "../../../scenes/planted-store.ts";
import { makeLayout } from "../../stores.ts";
import { nothing, run } from "./carried.ts";

const loose = await startLooseBucket({ keepsConditions: true });
afterAll(() => loose.stop());

it("store pull leaves in the bucket what a directory has no room for, but no record, and brings it once it has", async () => {
  const settings = makePart(loose);
  const bucket = new Bucket(settings, bucketLimits);
  const [records, archives] = [30, 5];
  const layout = await makeStore(records, archives);
  await run("push", layout, settings);
  const held = (await new DiskRecords(layout).measure()) + 25_000;
  const ample = { minFree: 0 };
  const { bytes: free } = await new BlobStore(layout).measureFree();
  for (const [directory, some] of [
    [{ minFree: free * 2 }, 0],
    [{ maxSize: 1_000, minFree: 0 }, 0],
    [{ maxSize: held, minFree: 0 }, 2],
  ] as const) {
    const other = await makeLayout();
    const wanted = { records, archives: some };
    const left = { records: 0, archives: archives - some };
    const first = await run("pull", other, settings, directory);
    expect(first).toMatchObject({
      status: 1,
      report: { written: wanted, left, differences: [], problems: [] },
    });
    expect(await run("pull", other, settings, directory)).toMatchObject({
      status: 1,
      report: { written: nothing, left },
    });
    expect(await checkBucket(bucket, other)).toBeDefined();
    expect(await run("pull", other, settings, ample)).toMatchObject({
      status: 0,
      report: { written: left },
    });
  }
  await bucket.close();
});
