import type { ServerResponse } from "node:http";
import { cut } from "./cut-answer.ts";

/** A client that takes fewer than `rate` bytes a second over `rateWindow` ms of waiting for it is cut. */
export interface ClientPace {
  readonly rate: number;
  readonly rateWindow: number;
}

/**
 * Writes a body at the client's pace. Only time spent waiting for the client
 * counts against it, not time spent waiting for the origin. Destroys the
 * connection when the client is too slow or the body fails, so that a partial
 * body is never ended as if it were whole. The chunks are used up. Returns the
 * bytes written.
 */
export async function writePaced(
  res: ServerResponse,
  body: AsyncIterable<Uint8Array>,
  pace: ClientPace,
): Promise<number> {
  let written = 0;
  const waits = new WaitMeter(pace);
  try {
    for await (const chunk of body) {
      if (res.destroyed) return written;
      const { length } = chunk;
      written += length;
      if (res.write(chunk)) continue;
      await waits.drain(res, length);
      giveBack(res, chunk);
    }
  } catch (error) {
    cut(res);
    throw error;
  }
  if (!res.destroyed) res.end();
  return written;
}

/** Frees what was sent: hundreds of clients fill the memory before it is collected. */
function giveBack(
  { destroyed }: ServerResponse,
  { buffer, length }: Uint8Array,
): void {
  // Of a cut connection nobody knows whether it still reads the chunk.
  if (destroyed || buffer instanceof SharedArrayBuffer) return;
  if (buffer.byteLength === length) buffer.transfer(0);
}

class WaitMeter {
  readonly #pace: ClientPace;
  #waited = 0;
  #taken = 0;

  constructor(pace: ClientPace) {
    this.#pace = pace;
  }

  async drain(res: ServerResponse, length: number): Promise<void> {
    const start = performance.now();
    await drained(res, this.#pace.rateWindow);
    this.#waited += performance.now() - start;
    this.#taken += length;
    if (this.#waited < this.#pace.rateWindow) return;
    if (this.#taken * 1000 < this.#pace.rate * this.#waited) cut(res);
    this.#waited = 0;
    this.#taken = 0;
  }
}

/** Resolves when the client took what was written or left; after `longest` ms it is cut. */
async function drained(res: ServerResponse, longest: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(() => cut(res), longest);
  res.once("drain", resolve).once("close", resolve);
  await promise;
  res.off("drain", resolve).off("close", resolve);
  clearTimeout(timer);
}
