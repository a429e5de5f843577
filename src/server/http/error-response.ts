import type { ServerResponse } from "node:http";
import { TLSSocket } from "node:tls";
import {
  errorCodes,
  failure,
  guidanceOf,
  isFailure,
  phraseOf,
  ProvenderError,
  statusOfCode,
} from "../../errors/index.ts";
import {
  type ErrorOutcome,
  type RequestContext,
  setHeaders,
} from "./request-context.ts";

const internal = {
  message:
    "The mirror failed: its operator finds the reason in the log under this requestId.",
  remedy:
    "give this requestId to the mirror's operator, whose log has the reason",
};

/** Seconds of the longest Retry-After: clients retry once and give metadata 10 s. */
const longestRetryAfter = 5;

export function statusOf(error: unknown): number {
  const known = nameError(error);
  return known === undefined ? 500 : statusOfCode(known.code);
}

const refusals: ReadonlySet<number> = new Set([401, 451]);

/**
 * Returns the outcome of an error. "refused" means policy or authentication
 * said no, even when the status is 404.
 */
export function errorOutcome(error: unknown): ErrorOutcome {
  const status = statusOf(error);
  if (status >= 500) return "failed";
  if (refusals.has(status) || isFailure(error, "origin-not-served"))
    return "refused";
  return status === 404 ? "not-found" : "malformed";
}

/** The codes that requests are answered with, by how they end. */
export const answeredCodes = {
  refusals: errorCodes.filter((code) => refusals.has(statusOfCode(code))),
  failures: [
    ...errorCodes.filter((code) => statusOfCode(code) > 500),
    "internal",
  ],
};

/** Having no descriptor left is a lack that passes. */
function nameError(error: unknown): ProvenderError | undefined {
  if (error instanceof ProvenderError) return error;
  const { code } = (error ?? {}) as NodeJS.ErrnoException;
  return code === "EMFILE" || code === "ENFILE"
    ? failure("too-busy", "open files")
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
  for (const name of ctx.res.getHeaderNames())
    if (name !== "x-request-id") ctx.remove(name);
  const known = nameError(error);
  const status = statusOf(error);
  ctx.status = status;
  ctx.message = formatReasonPhrase(known, page);
  // RFC 6750, 3: a request without a token gets no error, and a description has few characters. A claim has any.
  const why = isFailure(known, "token-refused")
    ? ` error="invalid_token", error_description="${known.reason.replaceAll(/[^ !#-[\]-~]/g, "")}"`
    : "";
  // Both may have a body, which is not read.
  const isUnread = isFailure(known, "malformed-request", "method-not-allowed");
  setHeaders(ctx, {
    "Content-Type": "application/json",
    "Cache-Control": "no-store",
    "Retry-After": status >= 502 ? `${retryAfter(known)}` : undefined,
    "WWW-Authenticate": status === 401 ? `Bearer${why}` : undefined,
    Allow: status === 405 ? "GET, HEAD" : undefined,
    "Content-Range": isFailure(known, "range-not-satisfiable")
      ? `bytes */${known.size}`
      : undefined,
    Connection: isUnread ? "close" : undefined,
  });
  ctx.body = formatErrorBody(known, ctx.state.asker.requestId);
}

/**
 * Ends a connection in the middle of an answer. In HTTP/1.0 a body without a
 * length ends with its connection (RFC 9112, 6.3). Without TLS only a reset
 * shows such a client that the body was cut.
 */
export function cut(answer: ServerResponse): void {
  const { socket, req } = answer;
  if (req.httpVersion === "1.0" && !(socket instanceof TLSSocket))
    socket?.resetAndDestroy();
  answer.destroy();
}

export function formatErrorBody(
  error: ProvenderError | undefined,
  requestId: string,
): string {
  // Errors that no client can resolve may name files of the machine.
  const isShown = error !== undefined && statusOf(error) !== 500;
  const { message, remedy } = isShown ? error : internal;
  const code = error?.code ?? "internal";
  return JSON.stringify({ errors: [message], remedy, code, requestId });
}

function retryAfter(error: ProvenderError | undefined): number {
  const known = isFailure(error, "origin-busy", "origin-suspended");
  const seconds = (known ? error.retryAfterSeconds : undefined) ?? 2;
  return Math.max(1, Math.min(seconds, longestRetryAfter));
}

/** Bytes of a reason phrase. */
const longest = 200;

/**
 * The reason phrase of a refusal (RFC 9112, 4), because clients print it: one sentence on the cause in printable ASCII,
 * without facts that only the operator may know. `page` is the URL of the whole answer, where it fits.
 */
export function formatReasonPhrase(
  error: ProvenderError | undefined,
  page: string | undefined,
): string {
  const phrase =
    (error && phraseOf(error)) ??
    "The mirror failed, its operator finds the reason in the log";
  // Clients, origins and keys choose names freely.
  const cause = phrase.replaceAll(/[^\w .,:'()[\]+-]/g, "");
  const { because, contact } = error === undefined ? {} : guidanceOf(error);
  const said = because === undefined ? cause : `${cause}: ${because}`;
  const full = contact === undefined ? said : `${said}. Contact: ${contact}`;
  const whole = page === undefined ? full : `${full}, see ${page}`;
  return whole.length <= longest ? whole : full.slice(0, longest);
}
