import {
  OriginAnswerUnusable,
  OriginBusy,
  OriginRejectsCredentials,
  OriginStatus,
  OriginTimedOut,
  OriginUnreachable,
  ProvenderError,
} from "../errors.ts";
import { formatPublicUrl } from "./public-url.ts";

const timeouts: ReadonlyMap<string, string> = new Map([
  ["UND_ERR_CONNECT_TIMEOUT", "no connection"],
  ["UND_ERR_HEADERS_TIMEOUT", "no first byte"],
  ["UND_ERR_BODY_TIMEOUT", "the transfer stood still"],
  ["ETIMEDOUT", "no connection"],
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
    return new OriginUnreachable(shown, `the proxy says ${refusal}`, options);
  const late = timeouts.get(code);
  if (late !== undefined) return new OriginTimedOut(shown, late, options);
  if (name === "TimeoutError" || name === "AbortError")
    return new OriginTimedOut(shown, "the deadline passed", options);
  return phase === "request"
    ? new OriginUnreachable(shown, code === "" ? message : code, options)
    : new OriginAnswerUnusable(shown, "the body was cut short", options);
}

/** The error for a status other than 200, 206 and the redirects. */
export function describeStatus(
  url: URL,
  status: number,
  retryAfter: string | undefined,
): ProvenderError {
  const shown = formatPublicUrl(url);
  if (status === 429 || (status === 503 && retryAfter !== undefined))
    return new OriginBusy(shown, parseRetryAfter(retryAfter));
  if (status === 401 || status === 403)
    return new OriginRejectsCredentials(shown, status);
  return new OriginStatus(shown, status);
}

/** Whole seconds; the date form of Retry-After is not used by registries and counts as unknown. */
function parseRetryAfter(text: string | undefined): number | undefined {
  return text !== undefined && /^[0-9]{1,6}$/.test(text)
    ? Number(text)
    : undefined;
}

function ownErrorIn(error: unknown): ProvenderError | undefined {
  for (let at = error, depth = 0; at instanceof Error && depth < 4; depth++) {
    if (at instanceof ProvenderError) return at;
    at = at.cause;
  }
  return undefined;
}
