import type { IncomingHttpHeaders, ServerResponse } from "node:http";
import { failure, isFailure } from "../../errors/index.ts";
import type { OpenArchive } from "../../mirror/archives/archives.ts";
import { currentAsker } from "../../telemetry/asker.ts";
import type { AuditLog } from "../../store/database/audit-log.ts";
import type { AuditEntry } from "../../telemetry/audit-entry.ts";
import { parseByteRange, type SatisfiableRange } from "./byte-range.ts";
import { inTime } from "../../concurrency/in-time.ts";
import { cut } from "./error-response.ts";
import {
  isUnmodified,
  type RequestContext,
  setHeaders,
} from "./request-context.ts";

export interface ArchiveResponseLimits {
  /** Milliseconds within which a request is answered or given up. */
  readonly answer: number;
}

const zip = "application/zip";

/** `"SHA256"`: strong, since the digest is the content's own name. */
function archiveTag(sha256: string): string {
  return `"${sha256}"`;
}

/**
 * Answers 304 to who holds the archive already, and HEAD with the true length or none, because clients accept
 * `Content-Length: 0` with `Accept-Ranges`; calls `send` for who gets it.
 */
export async function answerArchive(
  ctx: RequestContext,
  sha256: string,
  findSize: () => Promise<number | undefined> | number | undefined,
  send: () => Promise<void>,
  mediaType = zip,
): Promise<void> {
  if (isUnmodified(ctx.req, archiveTag(sha256))) {
    ctx.status = 304;
    ctx.set("ETag", archiveTag(sha256));
  } else if (ctx.method === "HEAD") {
    ctx.status = 200;
    setHeaders(ctx, archiveHeaders(sha256, mediaType, await findSize()));
  } else await send();
}

/**
 * Sends an archive or one range of it. The status follows the first bytes, so
 * that an early failure of the origin is an error and not a cut.
 * The time to answer counts from when the origin can be asked: clients never
 * request an archive twice, so they queue here. A client that leaves is noticed
 * at once, because a download without a reader makes way for another.
 */
export async function sendArchive(
  ctx: RequestContext,
  archive: OpenArchive,
  filename: string,
  limits: ArchiveResponseLimits,
  mediaType = zip,
): Promise<void> {
  const { res } = ctx;
  await unlessLeft(res, archive.admitted);
  const asked = performance.now();
  const started = inTime(archive.started, limits.answer, () => {
    throw failure("origin-timeout", filename, "no first byte yet");
  });
  await unlessLeft(res, started);
  if (res.destroyed) return;
  const range = chooseRange(ctx.req.headers, archive, filename);
  const body = archive.read(range)[Symbol.asyncIterator]();
  const first = body.next();
  const left = limits.answer - (performance.now() - asked);
  await unlessLeft(
    res,
    inTime(first, left, () => undefined),
  );
  startBody(ctx, archive, range, mediaType);
  await writeBody(res, first, body);
}

function chooseRange(
  headers: IncomingHttpHeaders,
  { size, sha256 }: OpenArchive,
  filename: string,
): SatisfiableRange | undefined {
  const condition = headers["if-range"];
  const applies = condition === undefined || condition === archiveTag(sha256);
  return headers.range === undefined || size === undefined || !applies
    ? undefined
    : parseByteRange(headers.range, size, filename);
}

/**
 * Writes the body past Koa, whose streams do not wait for a piece to leave. The
 * piece's memory is reused for the next one.
 */
function startBody(
  ctx: RequestContext,
  { sha256, size }: OpenArchive,
  range: SatisfiableRange | undefined,
  mediaType: string,
): void {
  const isPart = range !== undefined && size !== undefined;
  ctx.status = isPart ? 206 : 200;
  setHeaders(ctx, {
    ...archiveHeaders(
      ...([sha256, mediaType] as const),
      isPart ? range.end - range.start : size,
    ),
    "Content-Range": isPart
      ? `bytes ${range.start}-${range.end - 1}/${size}`
      : undefined,
  });
  ctx.respond = false;
  ctx.flushHeaders();
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

/**
 * Returns the result of `awaited`; undefined as soon as the client has left.
 */
async function unlessLeft<T>(
  res: ServerResponse,
  awaited: Promise<T>,
): Promise<T | undefined> {
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
  const asker = currentAsker();
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
