import { createServer, type IncomingMessage } from "node:http";
import { Duplex } from "node:stream";
import { LRUCache } from "lru-cache";
import { findRequestProblem } from "../http/raw-request.ts";

/** What Node's parser read from the bytes of a request. */
export interface KnownRequest {
  readonly url: string;
  readonly headers: IncomingMessage["headers"];
}

/** Bytes. */
const longestHead = 2_048;
const mostKnown = 1_000;

/**
 * Requests of GET by their bytes. The same bytes are the same request, so that it
 * is parsed once, and by nothing but Node's own parser.
 */
export class KnownRequests {
  readonly #known = new LRUCache<string, KnownRequest>({ max: mostKnown });
  readonly #longestUrl: number;

  /** Bytes. */
  constructor(longestUrl: number) {
    this.#longestUrl = longestUrl;
  }

  /** `bytes` are all that came since the request before, one character each. */
  find(bytes: string): KnownRequest | undefined {
    return this.#known.get(bytes);
  }

  /** Undefined unless the bytes are one whole request that the application would answer and keep the connection open after. */
  async learn(bytes: string): Promise<KnownRequest | undefined> {
    if (bytes.length > longestHead) return undefined;
    if (bytes.indexOf("\r\n\r\n") !== bytes.length - 4) return undefined;
    const request = await parse(bytes);
    if (request === undefined || !this.#isPlain(request)) return undefined;
    const { url = "", headers } = request;
    const known = { url, headers };
    this.#known.set(bytes, known);
    return known;
  }

  #isPlain(request: IncomingMessage): boolean {
    const { method, httpVersion, headers } = request;
    const { connection = "keep-alive" } = headers;
    return (
      method === "GET" &&
      httpVersion === "1.1" &&
      connection.toLowerCase() === "keep-alive" &&
      headers["content-length"] === undefined &&
      headers.upgrade === undefined &&
      findRequestProblem(request, this.#longestUrl) === undefined
    );
  }
}

/** The URL in the first line, if the bytes look like a GET; a hint, on which no answer rests. */
export function urlIn(bytes: string): string {
  return /^GET (\S+) HTTP\/1\.1\r\n/.exec(bytes)?.[1] ?? "";
}

/** By Node's own parser, on a connection in memory. */
async function parse(bytes: string): Promise<IncomingMessage | undefined> {
  const { promise, resolve } = Promise.withResolvers<
    IncomingMessage | undefined
  >();
  const options = { requireHostHeader: false, maxHeaderSize: longestHead };
  const server = createServer(options, (request) => resolve(request));
  server.on("clientError", () => resolve(undefined));
  const connection = new Duplex({
    read: () => undefined,
    write: (_, __, done) => done(),
  });
  server.emit("connection", connection);
  connection.once("close", () => resolve(undefined));
  connection.push(Buffer.from(bytes, "latin1"));
  connection.push(null);
  const request = await promise;
  connection.destroy();
  return request;
}
