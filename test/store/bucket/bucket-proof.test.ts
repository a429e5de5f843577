import { expect, it } from "vitest";
import { failing } from "../../scenes/failing.ts";
import type { BucketSettings } from "../../../src/store/bucket/bucket-settings.ts";
import { proveBucket } from "../../../src/store/bucket/bucket-proof.ts";
import { Bucket } from "../../../src/store/bucket/bucket.ts";
import { bucketLimits, settingsOf } from "../../fakes/ceph.ts";
import { startLooseBucket } from "../../fakes/loose-bucket.ts";
import { startS3rver } from "../../fakes/s3rver.ts";
import { has } from "../../packaging/release.ts";

interface Store {
  readonly settings: BucketSettings;
  stop(): Promise<void>;
}

async function startLoose(): Promise<Store> {
  const loose = await startLooseBucket({ keepsConditions: false });
  const endpoint = new URL(String(loose.settings.endpoint));
  return { settings: settingsOf(endpoint, "loose"), stop: () => loose.stop() };
}

const stores: [string, () => Promise<Store>][] = [
  ["ignores conditions", startLoose],
];
if (await has("s3rver", "a real object store that ignores conditions"))
  stores.push(["is s3rver", startS3rver]);

it.each(stores)(
  "a store that %s is refused, and has nothing of the proof afterwards",
  async (_, start) => {
    const store = await start();
    const bucket = new Bucket(store.settings, bucketLimits);
    try {
      const proof = await proveBucket(bucket).catch((error: unknown) => error);
      expect(proof).toEqual(failing("bucket-unproven"));
      expect((proof as Error).message).toContain("If-None-Match is ignored");
      for await (const { key } of bucket.list("")) expect(key).toBe("");
    } finally {
      await bucket.close();
      await store.stop();
    }
  },
  120_000,
);
