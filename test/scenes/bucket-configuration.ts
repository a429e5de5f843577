import type { BucketSettings } from "../../src/store/bucket/bucket-settings.ts";
import { settingsOf } from "../fakes/loose-bucket.ts";
import type { LooseBucket } from "../fakes/loose-bucket.ts";

/** A part of a bucket that nothing else is in. */
export function makePart({ settings }: LooseBucket): BucketSettings {
  const endpoint = new URL(settings.endpoint as string);
  const prefix = `${crypto.randomUUID()}/`;
  return { ...settingsOf(endpoint, "loose"), prefix };
}
