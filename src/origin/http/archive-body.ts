import { errors } from "undici";
import { type Failure, isCut, isFailure } from "../../errors/index.ts";
import {
  announcedSize,
  discard,
  readBody,
  single,
  tooLarge,
  type Answer,
} from "./http-answer.ts";
import { unusable } from "./http-failure.ts";
import type { OriginLimits } from "../guard/origin-settings.ts";

/** Asks for the same archive again with these headers. */
type AskAgain = (headers: Readonly<Record<string, string>>) => Promise<Answer>;

/**
 * Resumes of one archive that are allowed before another `farEnough` bytes have
 * come.
 */
const mostResumes = 3;
const farEnough = 8 * 1024 * 1024;

/** Progress of an archive; `size` is undefined until it is announced. */
interface Progress {
  position: number;
  size: number | undefined;
}

/**
 * Yields the bytes of an archive in order, within its size and above the least
 * rate. After a broken or stalled transfer the rest is requested (RFC 9110,
 * 14.2 and 13.1.5), if a strong ETag identifies the file. A transfer whose
 * rest can be requested is given up early; the last one gets all the time that
 * the limits allow. The reader has to verify the whole.
 */
export async function* receiveArchive(
  first: Answer,
  limits: OriginLimits,
  askAgain: AskAgain,
): AsyncGenerator<Uint8Array> {
  const tag = strongTag(first);
  const progress = { position: 0, size: announcedSize(first) };
  let answer = first;
  for (let left = mostResumes; ; left--) {
    const before = progress.position;
    const isLast = tag === undefined || left === 0;
    const patience = isLast ? limits.idle : limits.stalled;
    try {
      yield* receiveRest(answer, progress, limits, patience);
      return;
    } catch (error) {
      if (progress.position - before >= farEnough) left = mostResumes;
      if (tag === undefined || left === 0 || !isBroken(error)) throw error;
      const range = `bytes=${progress.position}-`;
      answer = await askAgain({ range, "if-range": tag });
      expectSame(answer, tag);
    }
  }
}

function isBroken(error: unknown): boolean {
  return isCut(error) || isFailure(error, "origin-timeout");
}

async function* receiveRest(
  answer: Answer,
  progress: Progress,
  limits: OriginLimits,
  patience: number,
): AsyncGenerator<Uint8Array> {
  let skipped = startOf(answer, progress) - progress.position;
  for await (const chunk of limitBody(answer, limits, patience)) {
    // The bytes that a whole answer repeats are skipped.
    const fresh = chunk.subarray(Math.max(0, -skipped));
    skipped = Math.min(0, skipped + chunk.length);
    progress.position += fresh.length;
    expectWithin(answer, progress, limits);
    if (fresh.length > 0) yield fresh;
  }
}

/**
 * Returns the position where the body begins. A partial answer must begin at
 * the requested position.
 */
function startOf(answer: Answer, progress: Progress): number {
  if (answer.status !== 206) return 0;
  const text = single(answer.headers["content-range"]) ?? "";
  const match = /^bytes (\d{1,15})-(\d{1,15})\/(\d{1,15})$/i.exec(text);
  const [start, end, size] = (match ?? []).slice(1).map(Number);
  const length = announcedSize(answer);
  const isRest =
    start === progress.position &&
    size !== undefined &&
    end === size - 1 &&
    size === (progress.size ?? size) &&
    (length === undefined || length === size - start);
  if (!isRest) throw refuse(answer, "its range is not the rest that was asked");
  progress.size = size;
  return start;
}

function expectWithin(
  answer: Answer,
  { position, size }: Progress,
  { archive }: OriginLimits,
): void {
  if (position > archive) throw tooLarge(answer, archive);
  if (size !== undefined && position > size)
    throw refuse(answer, "it goes on beyond its announced end");
}

/** The whole once more is as good as its rest, unless it is another one. */
function expectSame(answer: Answer, tag: string): void {
  const { etag } = answer.headers;
  if (etag === tag || (answer.status === 206 && etag === undefined)) return;
  throw refuse(answer, "it changed while it was fetched");
}

/**
 * Passes the body on while it keeps to the least rate over each window, and
 * brings something within `patience` milliseconds; the time that the reader
 * needs does not count.
 */
async function* limitBody(
  answer: Answer,
  limits: OriginLimits,
  patience: number,
): AsyncGenerator<Uint8Array> {
  const giveUp = () => answer.body.destroy(new errors.BodyTimeoutError());
  let window = { waited: 0, size: 0 };
  let asked = performance.now();
  let stall = setTimeout(giveUp, patience);
  try {
    for await (const chunk of readBody(answer)) {
      clearTimeout(stall);
      window.size += chunk.length;
      window.waited += performance.now() - asked;
      if (window.waited >= limits.rateWindow) {
        if (window.size * 1000 < limits.rate * window.waited)
          throw unusable(answer.url, "it arrives more slowly than limits.rate");
        window = { waited: 0, size: 0 };
      }
      yield chunk;
      asked = performance.now();
      stall = setTimeout(giveUp, patience);
    }
  } finally {
    clearTimeout(stall);
  }
}

/** An entity tag that promises the same bytes (RFC 9110, 8.8.1). */
function strongTag({ headers }: Answer): string | undefined {
  const { etag } = headers;
  return etag !== undefined && /^"[\x21\x23-\x7e]{1,200}"$/.test(etag)
    ? etag
    : undefined;
}

function refuse(answer: Answer, reason: string): Failure<"origin-answer"> {
  discard(answer.body);
  return unusable(answer.url, reason);
}
