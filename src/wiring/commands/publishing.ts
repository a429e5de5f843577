import { resolve } from "node:path";
import { PublishBucket } from "../../commands/packages/publish-bucket.ts";
import { PublishDirectory } from "../../commands/packages/publish-directory.ts";
import type { Configuration } from "../../config/load.ts";
import { ArgumentsInvalid } from "../../errors/index.ts";
import { BucketFolder } from "../../origin/folder/bucket-folder.ts";
import { signaturePolicyOf } from "../origins.ts";
import { wireBucket } from "../store/bucket.ts";
import { wireJudge, wireSignatures } from "../threads.ts";

/** Milliseconds: nobody waits but who publishes, and an object store takes its time for a large archive. */
const limits = { connect: 5_000, firstByte: 60_000, idle: 60_000 };

/** Where releases are published that `to` names, an s3 URL or else a directory, and how they are judged: as those of the origin that lies there, else as required. Throws ArgumentsInvalid. */
export function wirePublishing(configuration: Configuration, to: string) {
  const signatures = wireSignatures(configuration);
  const { place, origin, close } = to.startsWith("s3://")
    ? wirePublishBucket(configuration, to)
    : wirePublishDirectory(configuration, resolve(to));
  return {
    place,
    hostname: origin?.hostname,
    policy: signaturePolicyOf(origin),
    judge: wireJudge(signatures),
    limits: configuration.limits,
    [Symbol.asyncDispose]: async () => {
      await Promise.all([signatures.close(), close()]);
    },
  };
}

function wirePublishDirectory({ origins }: Configuration, directory: string) {
  const origin = [...origins.values()].find(
    ({ folder }) =>
      folder && "directory" in folder && folder.directory === directory,
  );
  const place = new PublishDirectory(directory);
  return { place, origin, close: () => Promise.resolve() };
}

function wirePublishBucket(
  { origins, storage: { s3 } }: Configuration,
  to: string,
) {
  const bucket = s3 && wireBucket(s3, limits);
  const named = to.endsWith("/") ? to : `${to}/`;
  for (const origin of origins.values()) {
    const { folder } = origin;
    if (bucket === undefined || !folder || !("bucketPrefix" in folder))
      continue;
    const root = new BucketFolder(bucket, folder.bucketPrefix);
    if (root.show([]) !== named) continue;
    const place = new PublishBucket(root, bucket);
    return { place, origin, close: () => bucket.close() };
  }
  throw new ArgumentsInvalid(
    to,
    'expected s3://BUCKET/PREFIX of "storage.s3" and of the "bucketPrefix" of an origin in the configuration.',
  );
}
