import { Readable } from "node:stream";
import { Agent, request, type Dispatcher } from "undici";
import { makeTrust } from "../../network/trusted-certificates.ts";

/** Milliseconds. */
export interface BucketLimits {
  readonly connect: number;
  /** Until the first byte of an answer. */
  readonly firstByte: number;
  /** Between two pieces of a body. */
  readonly idle: number;
}

/** The part of the SDK's HttpRequest that matters here. */
interface SignedRequest {
  readonly method: string;
  readonly protocol: string;
  readonly hostname: string;
  readonly port?: number;
  /** Encoded. */
  readonly path: string;
  readonly query: Readonly<Record<string, unknown>>;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | Readable;
}

interface Answer {
  readonly statusCode: number;
  readonly headers: Record<string, string>;
  readonly body: Readable;
}

/** Bytes of an answer that is no object: a page of a list, or an error. */
const largestDocument = 4 * 1024 * 1024;

/** Sends the signed requests of the S3 client over connections with limits in time. */
export class ObjectRequests {
  readonly metadata = { handlerProtocol: "http/1.1" };
  readonly #agent: Agent;
  readonly #onWrite: (status: number) => void;

  /** `onWrite` hears the status of each answer to a PUT. */
  constructor(
    ca: string | undefined,
    limits: BucketLimits,
    onWrite: (status: number) => void,
  ) {
    this.#onWrite = onWrite;
    this.#agent = new Agent({
      headersTimeout: limits.firstByte,
      bodyTimeout: limits.idle,
      allowH2: false,
      connections: 64,
      connect: {
        timeout: limits.connect,
        secureContext: makeTrust(ca),
      },
    });
  }

  async handle(asked: SignedRequest): Promise<{ readonly response: Answer }> {
    const { statusCode, headers, body } = await this.#send(asked);
    // The body may be dropped unread; its reader gets the error all the same.
    body.on("error", () => undefined);
    if (asked.method === "PUT") this.#onWrite(statusCode);
    const isObject =
      asked.method === "GET" &&
      statusCode === 200 &&
      asked.query["list-type"] === undefined;
    const response = {
      statusCode,
      headers: headers as Record<string, string>,
      body: isObject ? body : Readable.from(limitSize(body)),
    };
    return { response };
  }

  #send(asked: SignedRequest): Promise<Dispatcher.ResponseData> {
    const port = asked.port === undefined ? "" : `:${asked.port}`;
    const host = `${asked.hostname}${port}`;
    const url = new URL(`${asked.protocol}//${host}${asked.path}`);
    return request(url, {
      method: asked.method,
      query: asked.query,
      headers: asked.headers,
      dispatcher: this.#agent,
      body: asked.body ?? null,
    });
  }

  /** Ends every request at once. */
  async close(): Promise<void> {
    await this.#agent.destroy();
  }
}

async function* limitSize(
  body: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  let size = 0;
  for await (const piece of body) {
    size += piece.length;
    if (size > largestDocument) throw new Error("document too large");
    yield piece;
  }
}
