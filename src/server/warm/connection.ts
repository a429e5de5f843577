import type { Socket } from "node:net";
import { isUnmodified } from "../http/conditional-request.ts";
import { guarded, type OnUnexpected } from "../http/guarded.ts";
import { keepAlive } from "../http/listener.ts";
import type { RequestLog } from "../requests/request-log.ts";
import type { Answerable, WarmDocuments } from "./documents.ts";
import {
  urlIn,
  type KnownRequest,
  type KnownRequests,
} from "./known-requests.ts";
import { repliesOf } from "./replies.ts";

export interface WarmConnectionParts {
  readonly warm: WarmDocuments;
  readonly known: KnownRequests;
  readonly requestLog: RequestLog;
  readonly onUnexpected: OnUnexpected;
  readonly limits: {
    /** Milliseconds for a client to send its first request. */
    readonly clientHeaders: number;
  };
}

/** Bytes that may wait for a client that sends requests and reads no answers. */
const mostWaiting = 1024 * 1024;
/** Requests that are parsed for one connection; a client whose requests all differ is answered sooner by the HTTP server. */
const mostLearned = 4;
/** Milliseconds for a first request that is on its way when the listener closes. */
const onItsWay = 1_000;

/** One connection until it asks for anything that is not known or not warm. */
export class WarmConnection {
  readonly socket: Socket;
  readonly #serve: () => void;
  readonly #parts: WarmConnectionParts;
  readonly #read: (chunk: Buffer) => void;
  #isLooking = false;
  #isClosing = false;
  #learned = 0;
  /** The request before this one, if it was known. */
  #last: { readonly bytes: Buffer; readonly request: KnownRequest } | undefined;
  #hasAnswered = false;

  /** `serve` leaves the socket to the HTTP server. */
  constructor(socket: Socket, serve: () => void, parts: WarmConnectionParts) {
    this.socket = socket;
    this.#serve = serve;
    this.#parts = parts;
    this.#read = guarded(
      (chunk) => this.#answer(chunk),
      (error) => {
        socket.destroy();
        parts.onUnexpected(error, "connection");
      },
    );
    socket.setTimeout(parts.limits.clientHeaders, this.#cut);
    socket.on("data", this.#read).on("end", this.#end).on("error", this.#cut);
  }

  /** The answer was written, and waits for the client to take it. */
  get writableEnded(): boolean {
    return this.socket.writableLength > 0;
  }

  get #isFull(): boolean {
    return this.socket.writableLength > mostWaiting;
  }

  /** Ends it when it has nothing more to send; its first request, which may be on its way, is answered by the HTTP server. */
  close(): void {
    this.#isClosing = true;
    if (this.#isLooking) return;
    if (this.#hasAnswered) this.#end();
    else this.socket.setTimeout(onItsWay);
  }

  readonly #cut = () => this.socket.destroy();
  readonly #end = () => this.socket.destroySoon();

  #answer(chunk: Buffer): Promise<void> | undefined {
    if (this.#isClosing) {
      if (!this.#hasAnswered) this.#handOver(chunk);
      return undefined;
    }
    const start = performance.now();
    const request = this.#recognize(chunk);
    const isSent = request !== undefined && this.#sendWarm(request, start);
    if (isSent) return undefined;
    return this.#look(chunk, chunk.toString("latin1"), start);
  }

  #recognize(chunk: Buffer): KnownRequest | undefined {
    if (this.#last?.bytes.equals(chunk)) return this.#last.request;
    const request = this.#parts.known.find(chunk.toString("latin1"));
    // A copy, since the chunk holds on to all that was read with it.
    if (request) this.#last = { bytes: Buffer.from(chunk), request };
    return request;
  }

  #sendWarm(request: KnownRequest, start: number): boolean {
    const { socket } = this;
    const { warm } = this.#parts;
    const document = warm.find(request.url);
    const answerable = document && warm.begin({ ...request, socket }, document);
    if (answerable === undefined || this.#isFull) return false;
    this.#send(request, answerable, start);
    return true;
  }

  /** The connection is paused meanwhile, and no timeout runs against the client. */
  async #look(chunk: Buffer, bytes: string, start: number): Promise<void> {
    const { socket } = this;
    const { warm, known } = this.#parts;
    if (this.#isFull || !warm.keeps(urlIn(bytes))) {
      this.#handOver(chunk);
      return;
    }
    this.#isLooking = true;
    socket.pause().setTimeout(0);
    const request = known.find(bytes) ?? (await this.#learn(bytes));
    const answerable = request && (await warm.renew({ ...request, socket }));
    this.#isLooking = false;
    if (request === undefined || answerable === undefined) {
      if (!socket.destroyed) this.#handOver(chunk);
      return;
    }
    this.#send(request, answerable, start);
    if (this.#isClosing) this.#end();
    else socket.resume().setTimeout(keepAlive);
  }

  async #learn(bytes: string): Promise<KnownRequest | undefined> {
    this.#learned++;
    return this.#learned > mostLearned
      ? undefined
      : this.#parts.known.learn(bytes);
  }

  #send(
    known: KnownRequest,
    { document, state }: Answerable,
    start: number,
  ): void {
    const { requestLog } = this.#parts;
    const status = isUnmodified(known, document.tag) ? 304 : 200;
    const replies = repliesOf(document, status);
    const reply = replies.take(state.asker.requestId);
    const request = { state, params: document.params };
    const { "user-agent": userAgent } = known.headers;
    this.socket.write(reply, (error) => {
      replies.giveBack(reply);
      const complete = error === undefined || error === null;
      const bytes = complete ? reply.length : 0;
      const ending = { method: "GET", userAgent, status, complete };
      // The one for whom it was made anew has another outcome.
      const isAlike = complete && state.note.outcome === "hit";
      const form = isAlike
        ? replies.formOf(known, () => requestLog.formOf(request, ending))
        : undefined;
      requestLog.record(request, { ...ending, bytes, start }, form);
    });
    if (!this.#hasAnswered) this.socket.setTimeout(keepAlive);
    this.#hasAnswered = true;
  }

  #handOver(chunk: Buffer): void {
    const { socket } = this;
    socket
      .off("data", this.#read)
      .off("end", this.#end)
      .off("error", this.#cut);
    socket.setTimeout(0, this.#cut);
    socket.pause();
    socket.unshift(chunk);
    this.#serve();
    socket.resume();
  }
}
