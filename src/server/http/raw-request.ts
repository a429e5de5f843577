import { failure } from "../../errors/index.ts";
import type { RequestMiddleware } from "./request-context.ts";

/** Bytes. */
const longestUrl = 2_048;

/**
 * Refuses a malformed request before any route sees it. The URL is checked
 * as it came: a decoded one could name another thing than the one checked.
 */
export const refuseMalformed: RequestMiddleware = ({ req }, next) => {
  const { method = "", url = "", headers, rawHeaders } = req;
  if (Buffer.byteLength(url) > longestUrl)
    throw failure("uri-too-long", longestUrl);
  if (method !== "GET" && method !== "HEAD")
    throw failure("method-not-allowed", method);
  const length = headers["content-length"] ?? "0";
  if (headers["transfer-encoding"] !== undefined || length !== "0")
    throw failure("malformed-request", `of ${method} carries a body`, "none");
  if (headers.expect !== undefined)
    throw failure("malformed-request", "has an Expect header", "none");
  let hosts = 0;
  for (let at = 0; at < rawHeaders.length; at += 2)
    if (rawHeaders[at]?.toLowerCase() === "host") hosts++;
  // HTTP/1.0 needs none (RFC 9112, 3.2), and probes of load balancers send none.
  if (hosts > 1 || (hosts === 0 && req.httpVersion !== "1.0"))
    throw failure("malformed-request", "has no or several Host headers", "one");
  const path = pathOf(url);
  if (!path.startsWith("/"))
    throw failure("malformed-request", "names another server", "a path");
  if (!/^[\x21-\x7e]+$/.test(path) || /[%\\#]/.test(path))
    throw failure(
      "malformed-request",
      "has an escaped path",
      "no %, # or backslash",
    );
  if (hollowSegment.test(path) && path !== "/")
    throw failure(
      "malformed-request",
      "has an empty or dotted segment",
      "names",
    );
  return next();
};

/** The URL without its query, as it came. */
export function pathOf(url: string): string {
  const query = url.indexOf("?");
  return query < 0 ? url : url.slice(0, query);
}

const hollowSegment = /\/\.{0,2}(?:\/|$)/;
