import { row } from "../row.ts";

const phrase = "The mirror's store cannot be used now";

/** The bucket of `storage.s3`. */
export const bucketErrors = {
  "bucket-unreachable": row(["bucket", "reason"], {
    status: 503,
    phrase,
    sentence: "The bucket {bucket} does not answer ({reason})",
    remedy: "try again shortly, and look at the object store",
  }),
  "bucket-refuses": row(["bucket", "action", "status", "reason"], {
    status: 503,
    phrase,
    sentence: "The bucket {bucket} refuses to {action} ({status} {reason})",
    remedy: `check "storage.s3" and what its keys may do`,
  }),
  /** It has no store, or another one than this replica worked on. */
  "bucket-foreign": row(["bucket", "problem", "remedy"], {
    status: 503,
    phrase,
    sentence: "The bucket {bucket} is not the one of this mirror ({problem})",
    remedy: "{remedy}",
  }),
  /** Two replicas could both be first. */
  "bucket-unproven": row(["bucket", "problem"], {
    sentence: "The bucket {bucket} cannot be shared by replicas ({problem})",
    remedy: "use an object store with conditional writes",
  }),
};
