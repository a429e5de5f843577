import type { IncomingHttpHeaders } from "node:http";
import {
  cutShort,
  failure,
  type Failure,
  isFailure,
  ProvenderError,
} from "../../errors/index.ts";
import type { OriginResult } from "../../telemetry/definitions.ts";
import { formatPublicUrl } from "../guard/address-guard.ts";

const timeouts: ReadonlyMap<string, string> = new Map([
  ["UND_ERR_CONNECT_TIMEOUT", "no connection"],
  ["UND_ERR_HEADERS_TIMEOUT", "no first byte"],
  ["UND_ERR_BODY_TIMEOUT", "the transfer stood still"],
  ["ETIMEDOUT", "no connection"],
]);

/** Answers that came and that nobody can read safely, since where they end is in doubt. */
const unreadable: ReadonlyMap<string, string> = new Map([
  ["UND_ERR_HEADERS_OVERFLOW", "its headers are larger than 64 KiB"],
  [
    "UND_ERR_RES_CONTENT_LENGTH_MISMATCH",
    "its Content-Length contradicts its body (RFC 9112, 6.3)",
  ],
]);

/** The failure of a request or of its body, in our own words; ours pass unchanged. */
export function describeFailure(
  url: URL,
  error: unknown,
  phase: "request" | "body",
): ProvenderError {
  for (let at = error, depth = 0; at instanceof Error && depth < 4; depth++) {
    if (at instanceof ProvenderError) return at;
    at = at.cause;
  }
  const { code = "", name, message } = error as NodeJS.ErrnoException;
  const fail = (
    kind: "origin-unreachable" | "origin-answer" | "origin-timeout",
    reason: string,
  ) => failure(kind, formatPublicUrl(url), reason, { cause: error });
  // undici gives it the name of an aborted request.
  const [, refusal] = /^Proxy response \((\d+)\)/.exec(message) ?? [];
  if (refusal !== undefined)
    return fail("origin-unreachable", `the proxy says ${refusal}`);
  const late = timeouts.get(code);
  if (late !== undefined) return fail("origin-timeout", late);
  if (name === "TimeoutError" || name === "AbortError")
    return fail("origin-timeout", "the deadline passed");
  if (phase === "body") return fail("origin-answer", cutShort);
  const reason =
    name === "HTTPParserError"
      ? message.charAt(0).toLowerCase() + message.slice(1)
      : unreadable.get(code);
  return reason === undefined
    ? fail("origin-unreachable", code === "" ? message : code)
    : fail("origin-answer", reason);
}

/** The error for a status other than 200, 206 and the redirects. */
export function describeStatus(
  url: URL,
  status: number,
  headers: IncomingHttpHeaders,
): ProvenderError {
  const shown = formatPublicUrl(url);
  const { "retry-after": retryAfter } = headers;
  if (status === 429 || (status === 503 && retryAfter !== undefined)) {
    const ms = parseRetryAfter(retryAfter, new Date());
    return failure("origin-busy", shown, ms && Math.ceil(ms / 1000));
  }
  if (status === 401 || status === 403)
    return failure(
      "origin-credentials",
      shown,
      `answered with status ${status}`,
      'check the "token" that the mirror has for this origin',
      readReason(headers),
    );
  return failure("origin-status", shown, status);
}

/** RFC 6750, 3; printable ASCII alone. */
function readReason(headers: IncomingHttpHeaders): string | undefined {
  const challenge = headers["www-authenticate"] ?? "";
  return /\berror_description="([\w ,.:'-]{1,200})"/.exec(challenge)?.[1];
}

/** True where another provender refuses, by its policy or what it verified. */
export function isRefused(error: unknown): boolean {
  return isFailure(error, "origin-status") && error.status === 451;
}

/** Undefined stands for a good answer and for a redirect. */
export function originResult(failure: unknown): OriginResult {
  if (failure === undefined) return "ok";
  if (isFailure(failure, "origin-busy")) return "busy";
  if (isFailure(failure, "origin-timeout")) return "timeout";
  if (isFailure(failure, "origin-credentials")) return "refused";
  if (!isFailure(failure, "origin-status")) return "unreachable";
  if (failure.status >= 500) return "failed";
  return failure.status === 404 || failure.status === 410
    ? "not-found"
    : "refused";
}

export function unusable(
  url: URL,
  reason: string,
  options?: ErrorOptions,
): Failure<"origin-answer"> {
  return failure("origin-answer", formatPublicUrl(url), reason, options);
}

/**
 * Milliseconds to wait, between one second and five minutes, from whole seconds or a date (RFC 9110, 10.2.3). Undefined
 * for any other text.
 */
export function parseRetryAfter(text = "", now: Date): number | undefined {
  const isDate = /^[A-Z][a-z]{2,8},? .*\d{2}:\d{2}:\d{2}/.test(text);
  const date = isDate ? Date.parse(text) : NaN;
  const asked = /^\d+$/.test(text) ? Number(text) * 1000 : date - Number(now);
  return Number.isNaN(asked)
    ? undefined
    : Math.min(5 * 60_000, Math.max(1_000, asked));
}
