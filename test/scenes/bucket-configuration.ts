import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { BucketSettings } from "../../src/store/bucket/bucket-settings.ts";
import { settingsOf } from "../fakes/loose-bucket.ts";
import type { LooseBucket } from "../fakes/loose-bucket.ts";
import { scratch } from "../running-mirror.ts";

/** Commands on a directory and a bucket: the file that names both. */
export function writeBucketConfiguration(
  directory: string,
  { endpoint, bucket, prefix, keys }: BucketSettings,
  more: Readonly<Record<string, unknown>> = {},
  limits: Readonly<Record<string, unknown>> = {},
): string {
  const folder = scratch("configured");
  const file = join(folder, "provender.json");
  const secret = join(folder, "secret");
  writeFileSync(secret, keys?.secretAccessKey ?? "", { mode: 0o600 });
  const s3 = {
    ...{ endpoint: endpoint.href, bucket, prefix },
    accessKeyId: keys?.accessKeyId,
    secretAccessKey: { file: secret },
    ...more,
  };
  const storage = { directory, s3, ...limits };
  writeFileSync(file, JSON.stringify({ listen: { tls: "off" }, storage }));
  return file;
}

/** A part of a bucket that nothing else is in. */
export function makePart({ settings }: LooseBucket): BucketSettings {
  const endpoint = new URL(settings.endpoint as string);
  const prefix = `${crypto.randomUUID()}/`;
  return { ...settingsOf(endpoint, "loose"), prefix };
}
