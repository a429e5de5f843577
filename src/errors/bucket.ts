import { ProvenderError } from "./provender-error.ts";

/** The bucket did not answer, or answered that it cannot now. */
export class BucketUnreachable extends ProvenderError {
  readonly code = "bucket-unreachable";
  constructor(bucket: string, reason: string, options?: ErrorOptions) {
    super(
      `The bucket ${bucket} does not answer (${reason}): try again shortly, and look at the object store.`,
      options,
    );
  }
}

/** The bucket answered that it will not, or not as S3 does. */
export class BucketRefuses extends ProvenderError {
  readonly code = "bucket-refuses";
  readonly status: number;
  constructor(
    bucket: string,
    action: string,
    answered: { readonly status: number; readonly reason: string },
  ) {
    super(
      `The bucket ${bucket} refuses to ${action} (${answered.status} ${answered.reason}): check "storage.s3" and what its keys may do.`,
    );
    this.status = answered.status;
  }
}

/** The bucket has no store, or another one than this replica worked on. */
export class BucketForeign extends ProvenderError {
  readonly code = "bucket-foreign";
  constructor(bucket: string, problem: string, cure: string) {
    super(
      `The bucket ${bucket} is not the one of this mirror (${problem}): ${cure}.`,
    );
  }
}

/** The service does not keep to what replicas rely on, so that two of them could both be first. */
export class BucketUnproven extends ProvenderError {
  readonly code = "bucket-unproven";
  constructor(bucket: string, problem: string) {
    super(
      `The bucket ${bucket} cannot be shared by replicas (${problem}): use an object store with conditional writes.`,
    );
  }
}
