import {
  MalformedRequest,
  MethodNotAllowed,
  OriginNotServed,
  ProvenderError,
  RangeNotSatisfiable,
  TooBusy,
  TokenRefused,
  type ErrorCode,
} from "../../errors/index.ts";
import { cut } from "./paced-write.ts";
import { formatReasonPhrase } from "./reason-phrase.ts";
import {
  setHeaders,
  type ErrorOutcome,
  type RequestContext,
} from "./request-context.ts";

/** The one place that turns what happened into an HTTP status (docs/http.md). */
export const statuses: Readonly<Record<ErrorCode, number>> = {
  "malformed-address": 400,
  "malformed-request": 400,
  "uri-too-long": 414,
  "method-not-allowed": 405,
  "range-not-satisfiable": 416,
  "too-many-requests": 429,
  "token-needed": 401,
  "token-refused": 401,
  "archive-url-refused": 401,
  "no-such-page": 404,
  "not-found": 404,
  "not-stored": 404,
  "origin-not-served": 451,
  "origin-not-served-fall-through": 404,
  "signature-missing": 451,
  "signature-refused": 451,
  "nothing-to-verify": 451,
  "key-refused": 451,
  "release-conflict": 451,
  "policy-denied": 451,
  "too-young": 451,
  "nothing-admitted": 451,
  "checksums-malformed": 451,
  "archive-not-signed": 451,
  "checksum-conflict": 451,
  "archive-digest": 451,
  "module-source-refused": 451,
  "module-archive-refused": 451,
  "module-replaced": 451,
  "origin-unreachable": 502,
  "origin-status": 502,
  "origin-credentials": 502,
  "origin-answer": 502,
  "origin-address-refused": 502,
  "origin-busy": 503,
  "origin-suspended": 503,
  "signature-undecided": 503,
  "too-busy": 503,
  "store-full": 503,
  "record-unreadable": 503,
  "stored-archive-unreadable": 503,
  "stored-archive-damaged": 503,
  "not-ready": 503,
  "origin-timeout": 504,
  "archive-unhashable": 500,
  "bundle-refused": 500,
  "bucket-foreign": 503,
  "bucket-refuses": 503,
  "bucket-unreachable": 503,
  "bucket-unproven": 500,
  "bundle-incomplete": 500,
  "export-failed": 500,
  "store-in-use": 500,
  "store-too-new": 500,
  "store-version-unreadable": 500,
  "store-unusable": 500,
  "store-owned-by-another": 500,
  configuration: 500,
  listen: 500,
  input: 500,
  arguments: 500,
  "nothing-asked": 500,
  "trust-decision": 500,
  "nothing-held": 500,
  "no-version": 500,
  "no-authority": 500,
  "lock-mismatch": 500,
  "lock-outdated": 500,
};

const internal =
  "The mirror failed: its operator finds the reason in the log under this requestId.";

/**
 * Longest Retry-After in seconds. Clients retry once and give metadata 10 s.
 */
const longestRetryAfter = 5;

export function statusOf(error: unknown): number {
  const known = nameError(error);
  return known === undefined ? 500 : statuses[known.code];
}

const refusals: ReadonlySet<number> = new Set([401, 429, 451]);

/**
 * Returns the outcome of an error. "refused" means policy or authentication
 * said no, even when the status is 404.
 */
export function errorOutcome(error: unknown): ErrorOutcome {
  const status = statusOf(error);
  if (status >= 500) return "failed";
  if (refusals.has(status) || error instanceof OriginNotServed)
    return "refused";
  return status === 404 ? "not-found" : "malformed";
}

/** The codes that requests are answered with, by how they end. */
export const answeredCodes = {
  refusals: codesWith((status) => refusals.has(status)),
  failures: [...codesWith((status) => status > 500), "internal"],
};

function codesWith(isIt: (status: number) => boolean): readonly string[] {
  return Object.entries(statuses)
    .filter(([, status]) => isIt(status))
    .map(([code]) => code);
}

/** Having no descriptor left is a lack that passes. */
function nameError(error: unknown): ProvenderError | undefined {
  if (error instanceof ProvenderError) return error;
  const { code } = (error ?? {}) as NodeJS.ErrnoException;
  return code === "EMFILE" || code === "ENFILE"
    ? new TooBusy("open files")
    : undefined;
}

/**
 * Sends the error body of docs/http.md in place of the prepared one; a body
 * that has begun is cut. `page` is the URL of the explanation.
 */
export function respondWithError(
  ctx: RequestContext,
  error: unknown,
  page: string | undefined,
): void {
  if (ctx.headerSent) {
    ctx.respond = false;
    cut(ctx.res);
    return;
  }
  const { requestId } = ctx.state.asker;
  for (const name of ctx.res.getHeaderNames())
    if (name !== "x-request-id") ctx.remove(name);
  const known = nameError(error);
  ctx.status = statusOf(error);
  ctx.message = formatReasonPhrase(known, page);
  setHeaders(ctx, errorHeaders(known));
  ctx.body = formatErrorBody(known, requestId);
}

function errorHeaders(error: ProvenderError | undefined) {
  const status = statusOf(error);
  const isTransient = status === 429 || status >= 502;
  // Both may have a body, which is not read.
  const isUnread =
    error instanceof MalformedRequest || error instanceof MethodNotAllowed;
  return {
    "Content-Type": "application/json",
    "Cache-Control": "no-store",
    "Retry-After": isTransient ? `${retryAfter(error)}` : undefined,
    "WWW-Authenticate": status === 401 ? challenge(error) : undefined,
    Allow: status === 405 ? "GET, HEAD" : undefined,
    "Content-Range":
      error instanceof RangeNotSatisfiable
        ? `bytes */${error.size}`
        : undefined,
    Connection: isUnread ? "close" : undefined,
  };
}

/**
 * Formats the WWW-Authenticate header: a request without a token gets no error
 * (RFC 6750, 3). A reason has no quotes.
 */
function challenge(error: ProvenderError | undefined): string {
  return error instanceof TokenRefused
    ? `Bearer error="invalid_token", error_description="${error.reason}"`
    : "Bearer";
}

export function formatErrorBody(
  error: ProvenderError | undefined,
  requestId: string,
): string {
  // Errors that no client can resolve may name files of the machine.
  const shown = statusOf(error) === 500 ? undefined : error?.message;
  const errors = [shown ?? internal];
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
