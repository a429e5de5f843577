import { NotFound, NotStored } from "./request.ts";
import { OriginFailure } from "./origin-failure.ts";
import { BucketForeign, BucketRefuses, BucketUnreachable } from "./bucket.ts";
import { SignatureUndecided } from "./verification.ts";

export * from "./provender-error.ts";
export * from "./authentication.ts";
export * from "./bucket.ts";
export * from "./bundle.ts";
export * from "./commands.ts";
export * from "./host.ts";
export * from "./module.ts";
export * from "./origin.ts";
export * from "./policy.ts";
export * from "./request.ts";
export * from "./trust.ts";
export * from "./verification.ts";

/** True only when an origin said that the thing does not exist; never for "could not tell". */
export function isAbsence(error: unknown): error is NotFound | NotStored {
  return error instanceof NotFound || error instanceof NotStored;
}

/** True when the bucket could not be asked, or would not do it: that says nothing about what is in it. */
export function isBucketFailure(error: unknown): error is BucketUnreachable {
  return (
    error instanceof BucketUnreachable ||
    error instanceof BucketRefuses ||
    error instanceof BucketForeign
  );
}

/** True when the origin failed, or a signature could not be decided on in time: neither says whether the thing exists or can be believed. */
export function isOriginFailure(error: unknown): boolean {
  return error instanceof OriginFailure || error instanceof SignatureUndecided;
}
