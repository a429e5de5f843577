import type { ServerResponse } from "node:http";
import { TLSSocket } from "node:tls";

/** A client that takes fewer than `rate` bytes a second over `rateWindow` ms of waiting for it is cut. */
export interface ClientPace {
  readonly rate: number;
  readonly rateWindow: number;
}

/**
 * Writes a body at the client's pace. Only time spent waiting for the client
 * counts against it, not time spent waiting for the origin.
 * Destroys the connection when the client is too slow or the body fails, so
 * that a partial body never looks complete. A chunk is sent before the next one
 * is requested, because they may share memory. Returns the bytes written.
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
      written += chunk.length;
      await waits.write(res, chunk);
    }
  } catch (error) {
    cut(res);
    throw error;
  }
  if (!res.destroyed) res.end();
  return written;
}

class WaitMeter {
  readonly #pace: ClientPace;
  #waited = 0;
  #taken = 0;

  constructor(pace: ClientPace) {
    this.#pace = pace;
  }

  async write(res: ServerResponse, chunk: Uint8Array): Promise<void> {
    const start = performance.now();
    await sent(res, chunk, this.#pace.rateWindow);
    this.#waited += performance.now() - start;
    this.#taken += chunk.length;
    if (this.#waited < this.#pace.rateWindow) return;
    if (this.#taken * 1000 < this.#pace.rate * this.#waited) cut(res);
    this.#waited = 0;
    this.#taken = 0;
  }
}

/** Resolves when the client took the chunk or left; after `longest` ms it is cut. */
async function sent(
  res: ServerResponse,
  chunk: Uint8Array,
  longest: number,
): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(() => cut(res), longest);
  res.once("close", resolve);
  res.write(chunk, () => resolve());
  await promise;
  res.off("close", resolve);
  clearTimeout(timer);
}

/**
 * Ends a connection in the middle of an answer. In HTTP/1.0 a body without a
 * length ends with its connection (RFC 9112, 6.3). Without TLS only a reset
 * shows such a client that the body was cut.
 */
export function cut(answer: ServerResponse): void {
  const { socket, req } = answer;
  if (req.httpVersion === "1.0" && !(socket instanceof TLSSocket))
    socket?.resetAndDestroy();
  answer.destroy();
}
