import { errors } from "undici";
import { isCut, isFailure } from "../../errors/index.ts";
import {
  announcedSize,
  readBody,
  refuse,
  single,
  tooLarge,
  type Answer,
} from "./http-answer.ts";
import type { OriginLimits } from "../guard/origin-settings.ts";

/** Resumes of one archive that are allowed before another `farEnough` bytes have come. */
const mostResumes = 3;
const farEnough = 8 * 1024 * 1024;

/**
 * Yields the bytes of an archive in order, within its size and above the least rate. After a broken or stalled transfer
 * the rest is requested (RFC 9110, 14.2 and 13.1.5), if a strong ETag identifies the file: such a transfer is given up
 * early, and the last one gets all the time that the limits allow. The reader has to verify the whole.
 */
export async function* receiveArchive(
  first: Answer,
  limits: OriginLimits,
  askAgain: (headers: Readonly<Record<string, string>>) => Promise<Answer>,
): AsyncGenerator<Uint8Array> {
  // A strong one promises the same bytes (RFC 9110, 8.8.1).
  const { etag = "" } = first.headers;
  const tag = /^"[\x21\x23-\x7e]{1,200}"$/.test(etag) ? etag : undefined;
  let answer = first;
  let position = 0;
  let size = announcedSize(first);
  for (let left = mostResumes; ; left--) {
    const before = position;
    const isLast = tag === undefined || left === 0;
    const patience = isLast ? limits.idle : limits.stalled;
    try {
      const isRest = answer.status === 206;
      if (isRest) size = sizeWithRest(answer, position, size);
      // The bytes that a whole answer repeats are skipped.
      let repeated = isRest ? 0 : position;
      for await (const chunk of limitBody(answer, limits, patience)) {
        const fresh = chunk.subarray(repeated);
        repeated -= chunk.length - fresh.length;
        position += fresh.length;
        if (position > limits.archive) throw tooLarge(answer, limits.archive);
        if (size !== undefined && position > size)
          throw refuse(answer, "it goes on beyond its announced end");
        if (fresh.length > 0) yield fresh;
      }
      return;
    } catch (error) {
      const isBroken = isCut(error) || isFailure(error, "origin-timeout");
      if (position - before >= farEnough) left = mostResumes;
      if (tag === undefined || left === 0 || !isBroken) throw error;
      answer = await askAgain({ range: `bytes=${position}-`, "if-range": tag });
      const { status, headers } = answer;
      // The whole once more is as good as its rest, unless it is another one.
      if (
        headers.etag !== tag &&
        (status !== 206 || headers.etag !== undefined)
      )
        throw refuse(answer, "it changed while it was fetched");
    }
  }
}

/** The size of the whole; a partial answer must be all the rest from `position` on. */
function sizeWithRest(
  answer: Answer,
  position: number,
  known: number | undefined,
): number {
  const text = single(answer.headers["content-range"]) ?? "";
  const match = /^bytes (\d{1,15})-(\d{1,15})\/(\d{1,15})$/i.exec(text);
  const [start, end, size] = (match ?? []).slice(1).map(Number);
  const length = announcedSize(answer);
  const isRest =
    start === position &&
    size !== undefined &&
    end === size - 1 &&
    size === (known ?? size) &&
    (length === undefined || length === size - start);
  if (!isRest) throw refuse(answer, "its range is not the rest that was asked");
  return size;
}

/**
 * Passes the body on while it keeps to the least rate over each window, and brings something within `patience`
 * milliseconds; the time that the reader needs does not count.
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
          throw refuse(answer, "it arrives more slowly than 64 KiB a second");
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
