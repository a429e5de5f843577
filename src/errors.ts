import { NotFound, NotStored } from "./errors/request.ts";
import {
  OriginAddressRefused,
  OriginAnswerUnusable,
  OriginBusy,
  OriginRejectsCredentials,
  OriginStatus,
  OriginSuspended,
  OriginTimedOut,
  OriginUnreachable,
} from "./errors/origin.ts";
import { SignatureUndecided } from "./errors/verification.ts";

export * from "./errors/provender-error.ts";
export * from "./errors/authentication.ts";
export * from "./errors/bundle.ts";
export * from "./errors/commands.ts";
export * from "./errors/host.ts";
export * from "./errors/module.ts";
export * from "./errors/origin.ts";
export * from "./errors/policy.ts";
export * from "./errors/request.ts";
export * from "./errors/trust.ts";
export * from "./errors/verification.ts";

/** True only when somebody who knows said that the thing does not exist; never for "could not tell". */
export function isAbsence(error: unknown): error is NotFound | NotStored {
  return error instanceof NotFound || error instanceof NotStored;
}

/** True when the origin's side failed, which says nothing about whether the thing exists or can be believed. */
export function isOriginFailure(error: unknown): boolean {
  return (
    error instanceof OriginUnreachable ||
    error instanceof OriginTimedOut ||
    error instanceof OriginStatus ||
    error instanceof OriginBusy ||
    error instanceof OriginSuspended ||
    error instanceof OriginRejectsCredentials ||
    error instanceof OriginAnswerUnusable ||
    error instanceof OriginAddressRefused ||
    error instanceof SignatureUndecided
  );
}
