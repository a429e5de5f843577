import { describe, expect, it } from "vitest";
import { BucketUnproven } from "../../../src/errors/index.ts";
import type { BucketSettings } from "../../../src/store/bucket/bucket-settings.ts";
import { expectProof } from "../../../src/store/bucket/bucket-identity.ts";
import { Bucket } from "../../../src/store/bucket/bucket.ts";
import { effort } from "../../effort.ts";
import { bucketLimits, settingsOf } from "../../fakes/ceph.ts";
import { startLooseBucket } from "../../fakes/loose-bucket.ts";
import { startS3rver } from "../../fakes/s3rver.ts";
import { has } from "../../packaging/release.ts";

const times = effort > 1 ? 20 : 3;

interface Store {
  readonly settings: BucketSettings;
  stop(): Promise<void>;
}

async function startLoose(inRaces: boolean): Promise<Store> {
  const loose = await startLooseBucket({
    keepsConditions: !inRaces,
    inRaces,
  });
  const endpoint = new URL(String(loose.settings.endpoint));
  return { settings: settingsOf(endpoint, "loose"), stop: () => loose.stop() };
}

const stores: [string, () => Promise<Store>, RegExp][] = [
  ["ignores conditions", () => startLoose(true), /is ignored/],
  [
    "looks at conditions before it takes the body, so that several writers win a race",
    () => startLoose(false),
    /of 8 writers at once created .*of 8 writers at once changed/,
  ],
];
if (await has("s3rver", "a real object store that ignores conditions"))
  stores.push([
    "is s3rver",
    startS3rver,
    /If-None-Match is ignored.*If-Match is ignored/,
  ]);

describe.each(stores)("a store that %s", (_, start, said) => {
  it(`is refused each of ${times} times, and has nothing of the proof afterwards`, async () => {
    const store = await start();
    const bucket = new Bucket(store.settings, bucketLimits);
    try {
      for (let time = 0; time < times; time++) {
        const proof = await expectProof(bucket).catch(
          (error: unknown) => error,
        );
        expect(proof).toBeInstanceOf(BucketUnproven);
        expect((proof as Error).message).toMatch(said);
        for await (const { key } of bucket.list("")) expect(key).toBe("");
      }
    } finally {
      await bucket.close();
      await store.stop();
    }
  }, 120_000);
});
