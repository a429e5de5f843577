import type { IncomingMessage } from "node:http";
import { failure, type ProvenderError } from "../../errors/index.ts";
import type { RequestMiddleware } from "./request-context.ts";

/** Bytes. */
const longestUrl = 2_048;

export const refuseMalformed: RequestMiddleware = ({ req }, next) => {
  const problem = findRequestProblem(req);
  if (problem !== undefined) throw problem;
  return next();
};

/**
 * Finds the problem of a request before any route sees it. The URL is checked
 * as it came: a decoded one could name another thing than the one checked.
 */
function findRequestProblem(
  request: IncomingMessage,
): ProvenderError | undefined {
  const { method = "", url = "", rawHeaders } = request;
  if (Buffer.byteLength(url) > longestUrl)
    return failure("uri-too-long", longestUrl);
  if (method !== "GET" && method !== "HEAD")
    return failure("method-not-allowed", method);
  if (hasBody(request))
    return failure("malformed-request", `of ${method} carries a body`, "none");
  if (request.headers.expect !== undefined)
    return failure("malformed-request", "has an Expect header", "none");
  const hosts = countHeader(rawHeaders, "host");
  // HTTP/1.0 needs none (RFC 9112, 3.2), and probes of load balancers send none.
  if (hosts > 1 || (hosts === 0 && request.httpVersion !== "1.0"))
    return failure(
      "malformed-request",
      "has no or several Host headers",
      "one",
    );
  const path = pathOf(url);
  if (!path.startsWith("/"))
    return failure("malformed-request", "names another server", "a path");
  if (!/^[\x21-\x7e]+$/.test(path) || /[%\\#]/.test(path))
    return failure(
      "malformed-request",
      "has an escaped path",
      "no %, # or backslash",
    );
  if (hollowSegment.test(path) && path !== "/")
    return failure(
      "malformed-request",
      "has an empty or dotted segment",
      "names",
    );
  return undefined;
}

/** The URL without its query, as it came. */
export function pathOf(url: string): string {
  const query = url.indexOf("?");
  return query < 0 ? url : url.slice(0, query);
}

const hollowSegment = /\/\.{0,2}(?:\/|$)/;

function hasBody({ headers }: IncomingMessage): boolean {
  const length = headers["content-length"];
  return (
    headers["transfer-encoding"] !== undefined ||
    (length !== undefined && length !== "0")
  );
}

function countHeader(rawHeaders: readonly string[], name: string): number {
  let count = 0;
  for (let at = 0; at < rawHeaders.length; at += 2)
    if (rawHeaders[at]?.toLowerCase() === name) count++;
  return count;
}
