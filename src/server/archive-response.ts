import type { Context } from "koa";
import type { ByteRange } from "../mirror/archive-download.ts";
import type { OpenArchive } from "../mirror/archive-cache.ts";
import { OriginTimedOut } from "../errors.ts";
import { parseByteRange } from "./byte-range.ts";
import { writePaced, type ClientPace } from "./paced-write.ts";

export interface ArchiveResponseLimits extends ClientPace {
  /** Milliseconds within which a request is answered or given up. */
  readonly answer: number;
}

/** `"SHA256"`: strong, since the digest is the content's own name. */
export function archiveTag(sha256: string): string {
  return `"${sha256}"`;
}

/** HEAD: the true length or none at all, because clients believe `Content-Length: 0` with `Accept-Ranges`. */
export function describeArchive(
  ctx: Context,
  sha256: string,
  size: number | undefined,
): void {
  setArchiveHeaders(ctx, sha256);
  ctx.status = 200;
  if (size !== undefined) {
    ctx.set("Accept-Ranges", "bytes");
    ctx.set("Content-Length", String(size));
  }
  ctx.respond = false;
  ctx.res.end();
}

/**
 * Sends an archive or one range of it. The status is decided once the first
 * bytes are there, so that an origin that fails early is an error and not a cut.
 */
export async function sendArchive(
  ctx: Context,
  archive: OpenArchive,
  filename: string,
  limits: ArchiveResponseLimits,
): Promise<void> {
  const deadline = after(limits.answer);
  try {
    await startedInTime(archive, filename, deadline.passed);
    const range = chooseRange(ctx, archive, filename);
    const body = archive.read(range)[Symbol.asyncIterator]();
    const first = body.next();
    await Promise.race([first, deadline.passed]);
    setArchiveHeaders(ctx, archive.sha256);
    setLength(ctx, archive.size, range);
    ctx.respond = false;
    ctx.res.flushHeaders();
    await writePaced(ctx.res, rejoin(first, body), limits);
  } finally {
    deadline.cancel();
  }
}

async function startedInTime(
  archive: OpenArchive,
  filename: string,
  passed: Promise<"late">,
): Promise<void> {
  const result = await Promise.race([archive.started, passed]);
  if (result === "late")
    throw new OriginTimedOut(filename, "no first byte yet");
}

function chooseRange(
  ctx: Context,
  { size, sha256 }: OpenArchive,
  filename: string,
): ByteRange | undefined {
  const condition = ctx.get("If-Range");
  const applies = condition === "" || condition === archiveTag(sha256);
  if (size === undefined || !applies) return undefined;
  return parseByteRange(ctx.get("Range"), size, filename);
}

function setArchiveHeaders(ctx: Context, sha256: string): void {
  ctx.set("Content-Type", "application/zip");
  ctx.set("ETag", archiveTag(sha256));
  ctx.set("Cache-Control", "no-cache");
}

function setLength(
  ctx: Context,
  size: number | undefined,
  range: ByteRange | undefined,
): void {
  ctx.status = range === undefined ? 200 : 206;
  if (size === undefined) return;
  const { start = 0, end = size } = range ?? {};
  ctx.set("Accept-Ranges", "bytes");
  ctx.set("Content-Length", String(end - start));
  if (range !== undefined)
    ctx.set("Content-Range", `bytes ${start}-${end - 1}/${size}`);
}

async function* rejoin(
  first: Promise<IteratorResult<Uint8Array>>,
  rest: AsyncIterator<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  try {
    for (let next = await first; !next.done; next = await rest.next())
      yield next.value;
  } finally {
    await rest.return?.();
  }
}

function after(ms: number): {
  readonly passed: Promise<"late">;
  cancel(): void;
} {
  const { promise, resolve } = Promise.withResolvers<"late">();
  const timer = setTimeout(() => resolve("late"), ms);
  return { passed: promise, cancel: () => clearTimeout(timer) };
}
