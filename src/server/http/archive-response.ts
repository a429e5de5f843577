import type { IncomingMessage, ServerResponse } from "node:http";
import { inTime } from "../../concurrency/in-time.ts";
import { failure, isFailure } from "../../errors/index.ts";
import type { OpenArchive } from "../../mirror/archives/archives.ts";
import type { AuditLog } from "../../store/database/audit-log.ts";
import { askers } from "../../telemetry/asker.ts";
import type { AuditEntry } from "../../telemetry/audit-entry.ts";
import { cut } from "./error-response.ts";
import { type RequestContext, setHeaders } from "./request-context.ts";

const zip = "application/zip";

/** `"SHA256"`: strong, since the digest is the content's own name. */
function archiveTag(sha256: string): string {
  return `"${sha256}"`;
}

/**
 * True when the whole answer is its head: 304 to who holds the archive already, and HEAD, with the true length or none
 * because clients accept `Content-Length: 0` with `Accept-Ranges`.
 */
export async function answersByHead(
  ctx: RequestContext,
  sha256: string,
  findSize: () => Promise<number | undefined> | number | undefined,
  mediaType = zip,
): Promise<boolean> {
  ctx.status = 200;
  ctx.set("ETag", archiveTag(sha256));
  if (ctx.fresh) {
    ctx.status = 304;
    return true;
  }
  if (ctx.method !== "HEAD") return false;
  setHeaders(ctx, archiveHeaders(sha256, mediaType, await findSize()));
  return true;
}

/**
 * Sends an archive or one range of it. The status follows the first bytes, so
 * that an early failure of the origin is an error and not a cut.
 * The milliseconds of `patience` count from when the origin can be asked: clients
 * never request an archive twice, so they queue here. A client that leaves is
 * noticed at once, because a download without a reader makes way for another.
 */
export async function sendArchive(
  ctx: RequestContext,
  archive: OpenArchive,
  filename: string,
  patience: number,
  mediaType = zip,
): Promise<void> {
  const { res } = ctx;
  await unlessLeft(res, archive.admitted);
  const asked = performance.now();
  const started = inTime(archive.started, patience, () => {
    throw failure("origin-timeout", filename, "no first byte yet");
  });
  await unlessLeft(res, started);
  if (res.destroyed) return;
  const { sha256, size } = archive;
  const range =
    size === undefined ? undefined : findRange(ctx.req, sha256, size, filename);
  const body = archive.read(range)[Symbol.asyncIterator]();
  const first = body.next();
  const left = patience - (performance.now() - asked);
  await unlessLeft(
    res,
    inTime(first, left, () => undefined),
  );
  ctx.status = range === undefined ? 200 : 206;
  const length = range === undefined ? size : range.end - range.start;
  setHeaders(ctx, archiveHeaders(sha256, mediaType, length));
  if (range !== undefined)
    ctx.set("Content-Range", `bytes ${range.start}-${range.end - 1}/${size}`);
  // Past Koa, whose streams do not wait for a piece to leave: its memory is reused for the next one.
  ctx.respond = false;
  ctx.flushHeaders();
  await writeBody(res, first, body);
}

/**
 * One `bytes` range (RFC 9110, 14.2), `end` exclusive. Undefined for several ranges and other units, and where the client
 * holds a part of something else: these are answered with the whole, as the RFC allows.
 */
function findRange(
  { headers }: IncomingMessage,
  sha256: string,
  size: number,
  filename: string,
): { readonly start: number; readonly end: number } | undefined {
  const condition = headers["if-range"] ?? archiveTag(sha256);
  if (condition !== archiveTag(sha256)) return undefined;
  const written = headers.range?.trim() ?? "";
  const match = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(written);
  const [, first = "", last = ""] = match ?? [];
  if (first === "" && last === "") return undefined;
  if (first !== "" && last !== "" && Number(last) < Number(first))
    return undefined;
  const start = first === "" ? Math.max(0, size - Number(last)) : Number(first);
  const end =
    first === "" || last === "" ? size : Math.min(Number(last) + 1, size);
  if (start >= end) throw failure("range-not-satisfiable", filename, size);
  return { start, end };
}

function archiveHeaders(
  sha256: string,
  mediaType: string,
  length: number | undefined,
) {
  return {
    "Content-Type": mediaType,
    ETag: archiveTag(sha256),
    "Cache-Control": "no-cache",
    "Accept-Ranges": length === undefined ? undefined : "bytes",
    "Content-Length": length?.toString(),
  };
}

/**
 * Writes the body as long as the client is there. A piece is sent before the
 * next one is requested, because they may share memory. A body that fails cuts
 * the connection, so that a part never looks complete.
 */
async function writeBody(
  res: ServerResponse,
  first: Promise<IteratorResult<Uint8Array>>,
  rest: AsyncIterator<Uint8Array>,
): Promise<void> {
  let next = first;
  try {
    for (;;) {
      const piece = await unlessLeft(res, next);
      if (piece === undefined) return;
      if (piece.done) break;
      const { promise, resolve } = Promise.withResolvers<unknown>();
      res.write(piece.value, resolve);
      await unlessLeft(res, promise);
      next = rest.next();
    }
    res.end();
  } catch (error) {
    if (isFailure(error, "archive-digest")) refusedMidway.add(res);
    cut(res);
    throw error;
  } finally {
    // Both settle with a piece that may come late; nothing waits for it.
    next.catch(() => undefined);
    rest.return?.().catch(() => undefined);
  }
}

/** Returns the result of `awaited`; undefined as soon as the client has left. */
async function unlessLeft<T>(
  res: ServerResponse,
  awaited: Promise<T>,
): Promise<T | undefined> {
  // What nobody waits for any longer may fail, too.
  awaited.catch(() => undefined);
  if (res.destroyed) return undefined;
  const { promise, resolve, reject } = Promise.withResolvers<T | undefined>();
  const leave = () => resolve(undefined);
  res.once("close", leave);
  awaited.then(resolve, reject);
  try {
    return await promise;
  } finally {
    res.off("close", leave);
  }
}

/** Answers that ended because the archive is not the signed one: that refusal has a line of its own. */
const refusedMidway = new WeakSet<ServerResponse>();

/** Writes down what became of an archive once its answer is over: `served` to its end, or `cut`; nothing when it was refused. */
export function recordDelivery(
  audit: AuditLog,
  answer: ServerResponse,
  archive: Omit<AuditEntry, "event" | "verdict">,
): void {
  const asker = askers.getStore();
  answer.once("close", () => {
    const { headersSent, statusCode, writableFinished } = answer;
    if (!headersSent || statusCode >= 300 || refusedMidway.has(answer)) return;
    const event = writableFinished ? "served" : "cut";
    void audit.record(
      { ...asker, ...archive, event, verdict: "accepted" },
      { durable: false },
    );
  });
}
