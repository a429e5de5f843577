import type { IncomingHttpHeaders } from "node:http";
import {
  cutShort,
  failure,
  type Failure,
  isFailure,
  ProvenderError,
} from "../../errors/index.ts";
import type { OriginResult } from "../../telemetry/series/labels.ts";
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
  const own = ownErrorIn(error);
  if (own !== undefined) return own;
  const shown = formatPublicUrl(url);
  const { code = "", name, message } = error as NodeJS.ErrnoException;
  const options = { cause: error };
  // undici gives it the name of an aborted request.
  const [, refusal] = /^Proxy response \((\d+)\)/.exec(message) ?? [];
  if (refusal !== undefined)
    return failure(
      "origin-unreachable",
      shown,
      `the proxy says ${refusal}`,
      options,
    );
  const reason =
    name === "HTTPParserError" ? lowerFirst(message) : unreadable.get(code);
  if (phase === "request" && reason !== undefined)
    return failure("origin-answer", shown, reason, options);
  const late = timeouts.get(code);
  if (late !== undefined)
    return failure("origin-timeout", shown, late, options);
  if (name === "TimeoutError" || name === "AbortError")
    return failure("origin-timeout", shown, "the deadline passed", options);
  return phase === "request"
    ? failure(
        "origin-unreachable",
        shown,
        code === "" ? message : code,
        options,
      )
    : failure("origin-answer", shown, cutShort, options);
}

/** The error for a status other than 200, 206 and the redirects. */
export function describeStatus(
  url: URL,
  status: number,
  headers: IncomingHttpHeaders,
): ProvenderError {
  const shown = formatPublicUrl(url);
  const { "retry-after": retryAfter, date } = headers;
  if (status === 429 || (status === 503 && retryAfter !== undefined)) {
    const ms = parseRetryAfter(retryAfter, date, new Date());
    return failure(
      "origin-busy",
      shown,
      ms === undefined ? ms : Math.ceil(ms / 1000),
    );
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

/**
 * Returns the reason for refusing a token (RFC 6750, 3), in printable ASCII
 * alone.
 */
function readReason(headers: IncomingHttpHeaders): string | undefined {
  const challenge = headers["www-authenticate"] ?? "";
  return /\berror_description="([\w ,.:'-]{1,200})"/.exec(challenge)?.[1];
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

function lowerFirst(text: string): string {
  return text.slice(0, 1).toLowerCase() + text.slice(1);
}

function ownErrorIn(error: unknown): ProvenderError | undefined {
  for (let at = error, depth = 0; at instanceof Error && depth < 4; depth++) {
    if (at instanceof ProvenderError) return at;
    at = at.cause;
  }
  return undefined;
}

const least = 1_000;
const most = 5 * 60_000;

/**
 * Parses milliseconds to wait, between one second and five minutes (RFC 9110,
 * 10.2.3). The header has whole seconds, or a date. The date is compared with
 * the answer's own `Date`, because the two clocks may differ. Undefined for any
 * other text.
 */
export function parseRetryAfter(
  text: string | undefined,
  answeredAt: string | undefined,
  now: Date,
): number | undefined {
  if (text === undefined) return undefined;
  if (/^[0-9]+$/.test(text)) return clamp(Number(text) * 1000);
  const date = parseHttpDate(text);
  if (date === undefined) return undefined;
  return clamp(date - (parseHttpDate(answeredAt ?? "") ?? now.getTime()));
}

function parseHttpDate(text: string): number | undefined {
  // Only what looks like one of the three forms: Date.parse reads almost anything.
  if (!/^[A-Z][a-z]{2,8},? .*\d{2}:\d{2}:\d{2}/.test(text)) return undefined;
  const date = Date.parse(text);
  return Number.isNaN(date) ? undefined : date;
}

function clamp(ms: number): number {
  return Math.min(most, Math.max(least, ms));
}
