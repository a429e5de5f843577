import { expect, it } from "vitest";
import { proveBucket } from "../../../src/store/bucket/bucket-proof.ts";
import { Bucket } from "../../../src/store/bucket/bucket.ts";
import { bucketLimits } from "../../fakes/loose-bucket.ts";
import { startLooseBucket } from "../../fakes/loose-bucket.ts";
import { makePart } from "../../scenes/bucket-configuration.ts";
import { failing } from "../../scenes/failing.ts";

it.each([false, true])(
  "a store is refused unless it keeps to its conditions (%s), and has nothing of the proof afterwards",
  async (keepsConditions) => {
    const store = await startLooseBucket({ keepsConditions });
    const bucket = new Bucket(makePart(store), bucketLimits);
    try {
      const proof = await proveBucket(bucket).catch((error: unknown) => error);
      expect(proof).toEqual(
        keepsConditions ? "quoted" : failing("bucket-unproven"),
      );
      for await (const { key } of bucket.list("")) expect(key).toBe("");
    } finally {
      await bucket.close();
      await store.stop();
    }
  },
);
