import { Readable } from "node:stream";
import { Agent, request } from "undici";
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

/** Bytes of an answer that is no object, such as an error. */
const largestDocument = 4 * 1024 * 1024;

/**
 * Sends the signed requests of the S3 client over connections with limits in time; `onWrite` hears the status of each
 * answer to a PUT.
 */
export function sendObjectRequests(
  ca: string | undefined,
  limits: BucketLimits,
  onWrite: (status: number) => void,
) {
  const agent = new Agent({
    headersTimeout: limits.firstByte,
    bodyTimeout: limits.idle,
    allowH2: false,
    connections: 64,
    connect: { timeout: limits.connect, secureContext: makeTrust(ca) },
  });
  const handle = async (asked: SignedRequest) => {
    const { protocol, hostname, method, query } = asked;
    const port = asked.port === undefined ? "" : `:${asked.port}`;
    const url = new URL(`${protocol}//${hostname}${port}${asked.path}`);
    const { statusCode, headers, body } = await request(url, {
      ...{ method, query, headers: asked.headers },
      dispatcher: agent,
      body: asked.body ?? null,
    });
    // The body may be dropped unread; its reader gets the error all the same.
    body.on("error", () => undefined);
    if (method === "PUT") onWrite(statusCode);
    const isObject = method === "GET" && statusCode === 200;
    const response = {
      statusCode,
      headers: headers as Record<string, string>,
      body: isObject ? body : Readable.from(limitSize(body)),
    };
    return { response };
  };
  return {
    metadata: { handlerProtocol: "http/1.1" },
    handle,
    /** Ends every request at once. */
    close: () => agent.destroy(),
  };
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
