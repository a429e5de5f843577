import { TooBusy } from "../../../errors/index.ts";
import type { ChangeLocks } from "../../records/change-locks.ts";
import type { BucketBody } from "../bucket-connection.ts";
import type { BucketLimits, BucketSettings } from "../bucket-settings.ts";
import {
  Bucket,
  markHeader,
  type Condition,
  type PutOutcome,
} from "../bucket.ts";

/**
 * A bucket that keeps to no conditions, and that the processes of one storage
 * directory alone write to: what a condition says is looked up before the write,
 * under a lock of theirs.
 */
export class SoleWriterBucket extends Bucket {
  readonly #locks: ChangeLocks;

  constructor(
    settings: BucketSettings,
    limits: BucketLimits,
    locks: ChangeLocks,
  ) {
    super(settings, limits);
    this.#locks = locks;
  }

  override async putIf(
    key: string,
    body: BucketBody,
    condition: Condition,
    mark = "",
  ): Promise<PutOutcome> {
    try {
      return await this.#locks.hold([key], async () =>
        isMet(condition, await this.head(key))
          ? this.putOnce(key, body, { [markHeader]: mark })
          : lost,
      );
    } catch (error) {
      // Another's write is under way, and comes first.
      if (error instanceof TooBusy) return lost;
      throw error;
    }
  }
}

const lost: PutOutcome = { kind: "lost" };

function isMet(
  condition: Condition,
  found: { readonly etag: string } | undefined,
): boolean {
  if (condition.kind === "absent") return found === undefined;
  return found !== undefined && bare(found.etag) === bare(condition.etag);
}

/** Without the quotes, in whichever form conditions have it. */
function bare(etag: string): string {
  return etag.replaceAll('"', "");
}
