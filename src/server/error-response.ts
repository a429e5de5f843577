import type { Context } from "koa";
import {
  MalformedRequest,
  ProvenderError,
  RangeNotSatisfiable,
  type ErrorCode,
} from "../errors.ts";

/** The one place that turns what happened into an HTTP status (contract, "URLs"). */
const statuses: Readonly<Record<ErrorCode, number>> = {
  "malformed-address": 400,
  "malformed-request": 400,
  "uri-too-long": 414,
  "method-not-allowed": 405,
  "range-not-satisfiable": 416,
  "no-such-page": 404,
  "not-found": 404,
  "not-stored": 404,
  "origin-not-served": 451,
  "origin-not-served-fall-through": 404,
  "signature-missing": 451,
  "signature-refused": 451,
  "key-refused": 451,
  "policy-denied": 451,
  "too-young": 451,
  "nothing-admitted": 451,
  "checksums-malformed": 451,
  "archive-not-signed": 451,
  "checksum-conflict": 451,
  "archive-digest": 451,
  "origin-unreachable": 502,
  "origin-status": 502,
  "origin-credentials": 502,
  "origin-answer": 502,
  "origin-address-refused": 502,
  "origin-busy": 503,
  "signature-undecided": 503,
  "too-busy": 503,
  "not-ready": 503,
  "origin-timeout": 504,
  "stored-archive-short": 500,
  "archive-unhashable": 500,
  "store-in-use": 500,
  "store-unusable": 500,
  configuration: 500,
  listen: 500,
};

const internal =
  "The mirror failed in an unexpected way: its operator finds the reason in the log under this requestId.";

/** Clients retry once and give metadata 10 s, so they are never told to wait longer. */
const longestRetryAfter = 5;

export function statusOf(error: unknown): number {
  return error instanceof ProvenderError ? statuses[error.code] : 500;
}

/** Replaces the response by the error body of the contract. Headers must not have been sent. */
export function respondWithError(
  ctx: Context,
  error: unknown,
  requestId: string,
): void {
  const known = error instanceof ProvenderError ? error : undefined;
  const status = statusOf(error);
  for (const name of Object.keys(ctx.response.headers)) ctx.remove(name);
  ctx.status = status;
  ctx.set("Content-Type", "application/json");
  ctx.set("Cache-Control", "no-store");
  if (status >= 502) ctx.set("Retry-After", String(retryAfter(known)));
  if (status === 405) ctx.set("Allow", "GET, HEAD");
  if (error instanceof RangeNotSatisfiable)
    ctx.set("Content-Range", `bytes */${error.size}`);
  if (error instanceof MalformedRequest) ctx.set("Connection", "close");
  ctx.respond = false;
  ctx.res.end(formatErrorBody(known, requestId));
}

export function formatErrorBody(
  error: ProvenderError | undefined,
  requestId: string,
): string {
  const errors = [error?.message ?? internal];
  return JSON.stringify({ errors, code: error?.code ?? "internal", requestId });
}

function retryAfter(error: ProvenderError | undefined): number {
  const asked =
    error !== undefined && "retryAfterSeconds" in error
      ? error.retryAfterSeconds
      : undefined;
  const seconds = typeof asked === "number" ? asked : 2;
  return Math.max(1, Math.min(seconds, longestRetryAfter));
}
