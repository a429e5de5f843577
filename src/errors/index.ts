import { failure, isFailure, type Failure } from "./failure.ts";
import { cutShort } from "./rows/origins.ts";

export * from "./failure.ts";
export {
  formatApproval,
  formatKeyDecision,
  isModuleType,
  nameContent,
  type ProviderRelease,
} from "./release.ts";
export { cutShort } from "./rows/origins.ts";
export { isPackageHash } from "./rows/verification.ts";

/** True only when an origin said that the thing does not exist; never for "could not tell". */
export function isAbsence(
  error: unknown,
): error is Failure<"not-found" | "not-stored"> {
  return isFailure(error, "not-found", "not-stored");
}

/** True when the bucket could not be asked, or would not do it: that says nothing about what is in it. */
export function isBucketFailure(
  error: unknown,
): error is Failure<
  "bucket-unreachable" | "bucket-refuses" | "bucket-foreign"
> {
  return isFailure(
    error,
    "bucket-unreachable",
    "bucket-refuses",
    "bucket-foreign",
  );
}

/** True when the origin failed, or a signature could not be decided on in time: neither says whether the thing exists or is genuine. */
export function isOriginFailure(error: unknown): boolean {
  return isFailure(
    error,
    "origin-unreachable",
    "origin-timeout",
    "origin-status",
    "origin-busy",
    "origin-suspended",
    "origin-credentials",
    "origin-answer",
    "origin-address-refused",
    "signature-undecided",
  );
}

/** True for a body that ended before its announced end, or whose transfer broke. */
export function isCut(error: unknown): boolean {
  return isFailure(error, "origin-answer") && error.reason === cutShort;
}

/** Returns the result of `read`; undefined where that throws malformed-address, as for the name of a foreign file. */
export function ifAddress<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (!isFailure(error, "malformed-address")) throw error;
    return undefined;
  }
}

/** A hostname that the configuration does not list under `origins`; clients go on elsewhere with `fallThrough`. */
export function notServed(
  hostname: string,
  fallThrough = false,
): Failure<"origin-not-served" | "origin-not-served-fall-through"> {
  return fallThrough
    ? failure("origin-not-served-fall-through", hostname)
    : failure("origin-not-served", hostname);
}
