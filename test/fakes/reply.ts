import { once } from "node:events";
import type { IncomingHttpHeaders, ServerResponse } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import { untilAborted } from "../../src/concurrency/in-time.ts";

/** Something that happens before the headers, or after n bytes of the body. */
export interface Wait {
  readonly at: "headers" | number;
  /** Resolves when the reply may go on; `gone` aborts with the connection. */
  readonly until: (gone: AbortSignal) => Promise<unknown>;
}

/** Reply to one request, lies included. Faults change replies. */
export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  /** Framing of the body's end. */
  readonly framing: "content-length" | "chunked" | "close";
  /** The Content-Length to announce instead of the body's. */
  readonly announced?: number;
  /** Where the connection ends early: n bytes of the body are still sent. */
  readonly cut?: "before-headers" | number;
  readonly bytesPerSecond?: number;
  readonly waits: readonly Wait[];
}

export function reply(
  status: number,
  contentType: string,
  body: Uint8Array | string,
  headers: Readonly<Record<string, string>> = {},
): Reply {
  return {
    status,
    headers: { "Content-Type": contentType, ...headers },
    body: typeof body === "string" ? Buffer.from(body) : body,
    framing: "content-length",
    waits: [],
  };
}

export function jsonReply(status: number, document: unknown): Reply {
  return reply(status, "application/json", JSON.stringify(document));
}

export interface ServedFile {
  readonly contentType: string;
  readonly bytes: Uint8Array;
  readonly sha256: string;
}

/** The whole file, or its rest from a place on (RFC 9110, 14.2 and 13.1.5). */
export function fileReply(
  { contentType, bytes, sha256 }: ServedFile,
  headers: IncomingHttpHeaders,
  { ranges, etags }: { readonly ranges: boolean; readonly etags: boolean },
): Reply {
  const tag = `"${sha256}"`;
  const known = {
    ...(etags && { ETag: tag }),
    ...(ranges && { "Accept-Ranges": "bytes" }),
  };
  const condition = headers["if-range"];
  const isMet = condition === undefined || (etags && condition === tag);
  const [, from] = /^bytes=(\d+)-$/.exec(headers.range ?? "") ?? [];
  if (!ranges || !isMet || from === undefined)
    return reply(200, contentType, bytes, known);
  const { length } = bytes;
  const first = Number(from);
  if (first >= length)
    return reply(416, "text/plain", "", {
      "Content-Range": `bytes */${length}`,
    });
  const range = `bytes ${first}-${length - 1}/${length}`;
  const partial = { ...known, "Content-Range": range };
  return reply(206, contentType, bytes.subarray(first), partial);
}

/** Sends it. Resolves when all is said. */
export async function sendReply(
  reply: Reply,
  response: ServerResponse,
): Promise<void> {
  const gone = new AbortController();
  response.once("close", () => gone.abort());
  try {
    await waitAt("headers", reply, gone.signal);
    if (reply.cut === "before-headers") response.destroy();
    else {
      writeHead(reply, response);
      if (response.req.method === "HEAD") response.end();
      else await sendBody(reply, response, gone.signal);
    }
  } catch (error) {
    if (!gone.signal.aborted) throw error;
  }
}

function writeHead(reply: Reply, response: ServerResponse): void {
  const { framing, announced = reply.body.length } = reply;
  for (const [name, value] of Object.entries(reply.headers))
    response.setHeader(name, value);
  const bodiless = reply.status === 204 || reply.status === 304;
  if (framing === "content-length" && !bodiless)
    response.setHeader("Content-Length", announced);
  if (framing === "close") {
    response.setHeader("Connection", "close");
    response.removeHeader("Transfer-Encoding");
  }
  response.writeHead(reply.status);
  // Node flushes them as UTF-8, where a letter is a byte.
  if (!bodiless) response.flushHeaders();
}

async function sendBody(
  reply: Reply,
  response: ServerResponse,
  gone: AbortSignal,
): Promise<void> {
  const { body, bytesPerSecond: rate } = reply;
  const cut = typeof reply.cut === "number" ? reply.cut : undefined;
  const end = Math.min(cut ?? Infinity, body.length);
  // Pieces end where something waits, and are small where a rate is kept.
  const most = Math.max(1, Math.min((rate ?? Infinity) / 100, 64 * 1024));
  const stops = reply.waits.map(({ at }) => (at === "headers" ? 0 : at));
  const started = performance.now();
  for (let at = 0; ;) {
    await waitAt(at, reply, gone);
    if (at >= end) break;
    const next = stops.filter((stop) => stop > at);
    const until = Math.min(at + Math.ceil(most), end, ...next);
    if (!response.write(body.subarray(at, until)))
      await once(response, "drain", { signal: gone });
    at = until;
    if (rate === undefined) continue;
    const ahead = started + (1000 * at) / rate - performance.now();
    if (ahead >= 1) await delay(ahead, undefined, { signal: gone });
  }
  // destroySoon and not destroy: what was written arrives before the end.
  if (cut === undefined) response.end();
  else response.socket?.destroySoon();
}

async function waitAt(
  at: Wait["at"],
  { waits }: Reply,
  gone: AbortSignal,
): Promise<void> {
  for (const wait of waits)
    if (wait.at === at) await untilAborted(wait.until(gone), gone);
}
