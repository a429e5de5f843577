import { hash } from "node:crypto";
import { Readable } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import { Agent, request, type Dispatcher } from "undici";
import {
  BucketRefuses,
  BucketUnreachable,
  type ProvenderError,
} from "../../errors/index.ts";
import { makeTrust } from "../../network/trusted-certificates.ts";
import type { BucketLimits, BucketSettings } from "./bucket-settings.ts";
import { makeCredentials } from "./credentials.ts";
import { findElement } from "./listing-document.ts";
import { RequestSigner, type BucketRequest } from "./signed-request.ts";

/** Times that a request is made which may be repeated. */
const tries = 3;
/** What an error body or a page of a list may have, in bytes. */
const largestDocument = 4 * 1024 * 1024;

/** Milliseconds that clocks may be apart before operators hear of it. */
const largestSkew = 30_000;

/** A body that can be sent again from its start. */
export interface BucketBody {
  readonly size: number;
  readonly sha256: string;
  open(): AsyncIterable<Uint8Array> | Uint8Array;
}

export type BucketAnswer = Dispatcher.ResponseData;

interface Sending {
  readonly body?: BucketBody;
  /** False for what would do another thing when it is done twice. */
  readonly isRepeatable: boolean;
  /** Goes out also while the bucket is suspended, to find out whether it is back. */
  readonly isProbe?: boolean;
}

/** Signed requests to one bucket, with limits in time, repeated where that changes nothing. */
export class BucketConnection {
  readonly #bucket: string;
  readonly #signer: RequestSigner;
  readonly #agent: Agent;
  #skew = 0;
  #suspension: ProvenderError | undefined;
  #refusal: string | undefined;

  constructor(settings: BucketSettings, limits: BucketLimits) {
    this.#bucket = settings.bucket;
    this.#signer = new RequestSigner(settings, makeCredentials(settings.keys));
    this.#agent = new Agent({
      headersTimeout: limits.firstByte,
      bodyTimeout: limits.idle,
      allowH2: false,
      connections: 64,
      connect: {
        timeout: limits.connect,
        secureContext: makeTrust(settings.ca),
      },
    });
  }

  /** Milliseconds that the service's clock is ahead of ours, as its last answer had it. */
  get skew(): number {
    return this.#skew;
  }

  /** Why it is of no use now, takes no writes, or has another time than we; undefined while all is well. */
  get problem(): string | undefined {
    if (this.#suspension !== undefined) return this.#suspension.message;
    if (this.#refusal !== undefined) return this.#refusal;
    if (Math.abs(this.#skew) <= largestSkew) return undefined;
    const side = this.#skew < 0 ? "ahead of" : "behind";
    return `This machine's clock is over ${largestSkew / 1000} s ${side} the bucket's: set it right.`;
  }

  /** Every request but a probe gets this error at once, until this is called without a reason. */
  suspend(reason: ProvenderError | undefined): void {
    this.#suspension = reason;
  }

  async close(): Promise<void> {
    await this.#agent.destroy();
  }

  /** The answer, whatever its status. Throws BucketUnreachable, and why it is suspended. */
  async send(
    asked: BucketRequest,
    { body, isRepeatable, isProbe = false }: Sending,
  ): Promise<BucketAnswer> {
    for (let attempt = 1; ; attempt++) {
      if (this.#suspension !== undefined && !isProbe) throw this.#suspension;
      const isLast = attempt === tries || !isRepeatable || isProbe;
      try {
        const answer = await this.#sendOnce(asked, body);
        if (isLast || !isTransient(answer.statusCode)) return answer;
        await answer.body.dump();
      } catch (error) {
        if (isLast)
          throw new BucketUnreachable(this.#bucket, (error as Error).message, {
            cause: error,
          });
      }
      await delay(100 * 2 ** attempt * (0.5 + Math.random()));
    }
  }

  async #sendOnce(
    asked: BucketRequest,
    body: BucketBody | undefined,
  ): Promise<BucketAnswer> {
    const assumed = this.#skew;
    const at = new Date(Date.now() + assumed);
    const { url, headers } = await this.#signer.sign(asked, body, at);
    const answer = await request(url, {
      method: asked.method,
      headers,
      dispatcher: this.#agent,
      body: body === undefined ? null : readableOf(body.open()),
    });
    // The body may be dropped unread; its reader gets the error all the same.
    answer.body.on("error", () => undefined);
    if (asked.method === "PUT") this.#noteWrite(answer);
    const date = Date.parse(String(answer.headers.date));
    if (!Number.isNaN(date)) this.#skew = roundSkew(date - Date.now());
    const wasMistimed = Math.abs(this.#skew - assumed) > largestSkew;
    if (answer.statusCode !== 403 || !wasMistimed) return answer;
    await answer.body.dump();
    return this.#sendOnce(asked, body);
  }

  /** Remembers whether the bucket takes writes. */
  #noteWrite({ statusCode }: BucketAnswer): void {
    const isLost = statusCode === 409 || statusCode === 412;
    if (statusCode < 400 || isLost) this.#refusal = undefined;
    else
      this.#refusal = `The bucket ${this.#bucket} takes no writes (${statusCode}).`;
  }

  /** Returns when the status is expected, with the body unread. Throws BucketUnreachable and BucketRefuses. */
  async expect(
    answer: BucketAnswer,
    action: string,
    ...expected: readonly number[]
  ): Promise<void> {
    if (expected.includes(answer.statusCode)) return;
    const text = await this.readText(answer);
    const reason = text.startsWith("<")
      ? await findElement(text, "Code")
      : undefined;
    if (isTransient(answer.statusCode))
      throw new BucketUnreachable(
        this.#bucket,
        `${answer.statusCode} ${reason ?? ""}`.trim(),
      );
    throw this.refusal(action, answer.statusCode, reason ?? "");
  }

  refusal(action: string, status: number, reason: string): BucketRefuses {
    return new BucketRefuses(this.#bucket, action, { status, reason });
  }

  /** `largest`: bytes. */
  async readText(
    { body }: Pick<BucketAnswer, "body">,
    largest = largestDocument,
  ): Promise<string> {
    const pieces: Uint8Array[] = [];
    let size = 0;
    for await (const piece of this.readPieces(body)) {
      size += piece.length;
      if (size > largest)
        throw this.refusal("answer briefly", 200, "document too large");
      pieces.push(piece);
    }
    return Buffer.concat(pieces).toString();
  }

  /** Throws BucketUnreachable where it is cut. */
  async *readPieces(
    body: AsyncIterable<Uint8Array>,
  ): AsyncGenerator<Uint8Array> {
    try {
      yield* body;
    } catch (cause) {
      const { message } = cause as Error;
      throw new BucketUnreachable(this.#bucket, message, { cause });
    }
  }
}

/** Bytes as a body. */
export function bodyOf(content: string | Uint8Array): BucketBody {
  const bytes = Buffer.from(content);
  return {
    size: bytes.length,
    sha256: hash("sha256", bytes),
    open: () => bytes,
  };
}

function readableOf(
  content: AsyncIterable<Uint8Array> | Uint8Array,
): Uint8Array | Readable {
  return content instanceof Uint8Array ? content : Readable.from(content);
}

/** The service says that another try may succeed. */
function isTransient(status: number): boolean {
  return status === 408 || status === 429 || status >= 500;
}

/** A date header has whole seconds: less than two say nothing. */
function roundSkew(milliseconds: number): number {
  return Math.abs(milliseconds) < 2_000 ? 0 : milliseconds;
}

/** A header that was sent once, or nothing. */
export function headerOf(answer: BucketAnswer, name: string): string {
  const value = answer.headers[name];
  return typeof value === "string" ? value : "";
}
