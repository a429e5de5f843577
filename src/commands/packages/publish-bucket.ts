import { BucketUnreachable, InputInvalid } from "../../errors/index.ts";
import type { BucketFolder } from "../../origin/folder/bucket-folder.ts";
import type { OriginFolder } from "../../origin/folder/origin-folder.ts";
import type { BucketBody } from "../../store/bucket/bucket-connection.ts";
import type { Bucket } from "../../store/bucket/bucket.ts";
import { digestOf, type Dist } from "./dist.ts";
import {
  expectSame,
  goOn,
  type Judge,
  type PublishPlace,
} from "./publish-place.ts";

/** Times that a write is made whose answer is lost. */
const tries = 3;

/**
 * A prefix of a bucket, where a release is one from its last object on. All write the objects in one order, and none over another's: of
 * several who publish one version at once, one writes all of it.
 */
export class PublishBucket implements PublishPlace {
  readonly root: BucketFolder;
  readonly #bucket: Bucket;

  constructor(root: BucketFolder, bucket: Bucket) {
    this.root = root;
    this.#bucket = bucket;
  }

  async put(dist: Dist, judge: Judge, signal: AbortSignal) {
    const { folder, parts, release, files } = dist;
    const { checksums } = release;
    await judge(folder, parts);
    const path = this.root.show(dist.place);
    const theirs = await digestOf(this.root, [...dist.place, checksums]);
    const ours = await digestOf(folder, [...parts, checksums]);
    if (theirs !== undefined) return expectSame(path, ours, theirs);
    for (const name of files) {
      goOn(dist, signal);
      await this.#putOnce(dist, name);
    }
    return "published";
  }

  async #putOnce({ folder, parts, place }: Dist, name: string): Promise<void> {
    const path = [...place, name];
    const body = await describeFile(folder, [...parts, name]);
    for (let attempt = 1; ; attempt++) {
      // Looked for first, since not every object store that one writer may use keeps to conditions.
      const theirs = await digestOf(this.root, path);
      if (theirs === body.sha256) return;
      if (theirs !== undefined)
        throw new InputInvalid(
          this.root.show(path),
          "it is there with other content, of a release that somebody publishes now or has not finished: publish again in a while, and take it away if it stays.",
        );
      const key = this.root.keyOf(path);
      const put = await this.#bucket.putIf(key, body, { kind: "absent" });
      if (put.kind === "written") return;
      if (attempt < tries) continue;
      throw put.kind === "unknown"
        ? put.failure
        : new BucketUnreachable(this.#bucket.name, "no answer to a write");
    }
  }
}

async function describeFile(
  folder: OriginFolder,
  parts: readonly string[],
): Promise<BucketBody> {
  const size = await folder.measure(parts);
  const sha256 = await digestOf(folder, parts);
  if (size === undefined || sha256 === undefined)
    throw new InputInvalid(folder.show(parts), "it is gone: publish again.");
  return { sha256, size, open: () => folder.stream(parts) };
}
