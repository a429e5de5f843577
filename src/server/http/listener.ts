import { once } from "node:events";
import {
  createServer as createHttpServer,
  type IncomingMessage,
  type Server,
  type ServerOptions,
  type ServerResponse,
} from "node:http";
import {
  createServer as createHttpsServer,
  Server as HttpsServer,
} from "node:https";
import type { AddressInfo, Socket } from "node:net";
import type { Duplex } from "node:stream";
import { failure, type ProvenderError } from "../../errors/index.ts";
import { formatErrorBody } from "./error-response.ts";
import { guarded, type OnUnexpected } from "./guarded.ts";
import { type ClientPace, cut } from "./paced-write.ts";

/** PEM texts. */
interface TlsMaterial {
  readonly certificate: string;
  readonly key: string;
}

export interface ListenerLimits extends ClientPace {
  /** Bytes. */
  readonly requestHeaders: number;
  /** Milliseconds for a client to send its headers, and to take the TLS handshake. */
  readonly clientHeaders: number;
  /** Connections open at once; more are closed as they come. */
  readonly connections: number;
}

/** Those that no operator has a reason to set. */
export const listenerLimits = {
  requestHeaders: 16 * 1024,
  clientHeaders: 10_000,
  rateWindow: 60_000,
};

/**
 * Handler of requests; it may return a promise that rejects with a later
 * failure.
 */
export type Handle = (
  req: IncomingMessage,
  res: ServerResponse,
) => Promise<void> | void;

/** Milliseconds for which a connection may stand still between requests. */
const keepAlive = 65_000;
/** Unanswered requests on one connection; clients of the protocols send the next when they have the answer. */
const mostPipelined = 100;

/**
 * The HTTP server on its socket; HTTP/2 is not offered. A failing handler ends
 * its request with 400 or its connection, never the process.
 */
export class Listener {
  readonly #server: Server | HttpsServer;
  readonly #onUnexpected: OnUnexpected;
  readonly #sockets = new Set<Socket>();
  readonly #answers = new WeakMap<Duplex, Set<ServerResponse>>();
  /** Connections with a request that could not be read. */
  readonly #unread = new WeakSet<Duplex>();
  readonly #stalled: StalledResponses;

  constructor(
    handle: Handle,
    tls: TlsMaterial | undefined,
    limits: ListenerLimits,
    onDropped: () => void,
    onUnexpected: OnUnexpected,
  ) {
    this.#onUnexpected = onUnexpected;
    this.#stalled = new StalledResponses(limits, cut);
    this.#server = makeServer(tls, limits);
    this.#listenForRequests(handle);
    this.#listenForConnections(onDropped);
    // Errors of accepting a connection come long after listening began; the
    // next connection may succeed.
    this.#server.on("error", (error) => {
      if (this.#server.listening) onUnexpected(error, "listening socket");
    });
  }

  /** Resolves with the port; throws a listen error. */
  async listen(host: string, port: number): Promise<number> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#server.once("error", reject);
    this.#server.listen({ host, port }, resolve);
    try {
      await promise;
    } catch (error) {
      const { code = "unknown reason" } = error as NodeJS.ErrnoException;
      throw failure("listen", `${host}:${port}`, code, { cause: error });
    }
    this.#server.off("error", reject);
    return (this.#server.address() as AddressInfo).port;
  }

  /** New connections get the new certificate; open ones keep theirs. */
  replaceCertificate(tls: TlsMaterial): void {
    if (this.#server instanceof HttpsServer)
      this.#server.setSecureContext(secureContext(tls));
  }

  /**
   * Stops accepting connections, lets answers finish for `grace` ms, then cuts
   * the rest.
   */
  async close(grace: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#server.close(() => resolve());
    this.#server.closeIdleConnections();
    const timer = setTimeout(() => {
      this.#stalled.cutAll();
      for (const socket of this.#sockets) socket.destroy();
    }, grace);
    await promise;
    clearTimeout(timer);
    this.#stalled.close();
  }

  #listenForRequests(handle: Handle): void {
    const answer = guarded(
      (req: IncomingMessage, res: ServerResponse) => {
        const { socket } = req;
        // The connection was cut for a request before this one.
        if (socket.destroyed) return undefined;
        const open = this.#answers.get(socket) ?? this.#expectEnd(socket);
        const last = open.size === 0 ? undefined : [...open].at(-1);
        this.#note(open, res);
        if (last === undefined) return handle(req, res);
        if (open.size > mostPipelined) socket.destroy();
        // One after the other, so that a client that sends many at once does not hold up other connections.
        return once(last, "close").then(() =>
          socket.destroyed || (!req.complete && this.#unread.has(socket))
            ? undefined
            : handle(req, res),
        );
      },
      (error, { socket }, res) => {
        endUnanswered(res, socket);
        this.#onUnexpected(error, "request");
      },
    );
    // Without a listener Node would answer the last two itself.
    for (const event of ["request", "checkContinue", "checkExpectation"])
      this.#server.on(event, answer);
  }

  #listenForConnections(onDropped: () => void): void {
    const end = (error: unknown, socket: Duplex) => {
      socket.destroy();
      this.#onUnexpected(error, "connection");
    };
    this.#server.on("drop", onDropped);
    this.#server.on("connection", (socket: Socket) => this.#track(socket));
    this.#server.on(
      "clientError",
      guarded(
        (error: Error, socket: Duplex) => this.#refuseUnread(error, socket),
        (error, _, socket) => end(error, socket),
      ),
    );
    this.#server.on(
      "connect",
      guarded(
        (_: IncomingMessage, socket: Duplex) =>
          after(this.#answersOn(socket).at(-1), () => refuseTunnel(socket)),
        (error, _, socket) => end(error, socket),
      ),
    );
  }

  #note(open: Set<ServerResponse>, response: ServerResponse): void {
    open.add(response);
    this.#stalled.watch(response);
    response.on("close", () => {
      open.delete(response);
      this.#stalled.forget(response);
      // Only a moment later Node counts its connection as idle.
      if (!this.#server.listening)
        setImmediate(() => this.#server.closeIdleConnections());
    });
  }

  /**
   * Ends the answers of a connection with it. Node closes the one under way;
   * those behind it are closed here.
   */
  #expectEnd(socket: Duplex): Set<ServerResponse> {
    const open = new Set<ServerResponse>();
    this.#answers.set(socket, open);
    socket.once("close", () => {
      for (const response of open) this.#stalled.forget(response);
    });
    return open;
  }

  /**
   * Answers a request that Node's parser refused, after the requests before it.
   * For a request with an unreadable body, this is the answer.
   */
  #refuseUnread(error: NodeJS.ErrnoException, socket: Duplex): void {
    // Each further chunk of such a connection fails, too.
    if (this.#unread.has(socket)) return;
    this.#unread.add(socket);
    const open = this.#answersOn(socket);
    const last = open.at(-1);
    const own = last?.req.complete === false ? last : undefined;
    const before = open.filter((response) => response !== own).at(-1);
    if (own?.headersSent === true || !isOfParser(error)) socket.destroy();
    else after(before, () => answerUnread(error, socket));
  }

  /** Returns the answers that are not sent yet, the first request's first. */
  #answersOn(socket: Duplex): readonly ServerResponse[] {
    return [...(this.#answers.get(socket) ?? [])];
  }

  #track(socket: Socket): void {
    this.#sockets.add(socket);
    socket.once("close", () => this.#sockets.delete(socket));
  }
}

function makeServer(
  tls: TlsMaterial | undefined,
  limits: ListenerLimits,
): Server | HttpsServer {
  const options: ServerOptions = {
    maxHeaderSize: limits.requestHeaders,
    headersTimeout: limits.clientHeaders,
    requestTimeout: limits.clientHeaders,
    connectionsCheckingInterval: Math.min(limits.clientHeaders, 5_000),
    keepAliveTimeout: keepAlive,
    // The application refuses what it would, in the form of docs/http.md.
    requireHostHeader: false,
  };
  const server =
    tls === undefined
      ? createHttpServer(options)
      : createHttpsServer({
          ...options,
          ...secureContext(tls),
          handshakeTimeout: limits.clientHeaders,
          ALPNProtocols: ["http/1.1"],
        });
  server.maxConnections = limits.connections;
  return server;
}

function secureContext({ certificate, key }: TlsMaterial) {
  return { cert: certificate, key, minVersion: "TLSv1.2" } as const;
}

/** Answers in the order of requests. */
function after(before: ServerResponse | undefined, answer: () => void): void {
  if (before === undefined) answer();
  else before.once("close", answer);
}

/** Others, such as those of TLS, are of a connection that can carry no answer. */
function isOfParser({ code = "" }: NodeJS.ErrnoException): boolean {
  return /^(?:HPE|ERR_HTTP)_/.test(code);
}

/** Answers in the form of docs/http.md. */
function answerUnread(error: NodeJS.ErrnoException, socket: Duplex): void {
  const status = clientErrorStatuses.get(error.code ?? "") ?? "400 Bad Request";
  refuse(
    socket,
    status,
    failure("malformed-request", "could not be read", "HTTP/1.1"),
  );
}

/** Ends a request whose handler threw before it answered. */
function endUnanswered(res: ServerResponse, socket: Duplex): void {
  if (res.headersSent || !socket.writable) {
    socket.destroy();
    return;
  }
  const problem = failure(
    "malformed-request",
    "could not be handled",
    "one that follows HTTP/1.1",
  );
  const body = formatErrorBody(problem, crypto.randomUUID());
  res.writeHead(400, {
    "Content-Type": "application/json",
    "Cache-Control": "no-store",
    "Content-Length": Buffer.byteLength(body),
    Connection: "close",
  });
  res.end(body);
}

function refuseTunnel(socket: Duplex): void {
  const status = "405 Method Not Allowed\r\nAllow: GET, HEAD";
  refuse(socket, status, failure("method-not-allowed", "CONNECT"));
}

/** `status` may be followed by header lines. */
function refuse(socket: Duplex, status: string, problem: ProvenderError): void {
  // The answer before was announced as the last: its connection ends by itself.
  if (socket.writableEnded) return;
  const body = formatErrorBody(problem, crypto.randomUUID());
  // Node no longer listens on the connection of a tunnel.
  socket.on("error", () => socket.destroy());
  socket.end(
    `HTTP/1.1 ${status}\r\nContent-Type: application/json\r\nCache-Control: no-store\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
    // A client that does not close its own side is not waited for.
    () => socket.destroy(),
  );
}

const clientErrorStatuses: ReadonlyMap<string, string> = new Map([
  ["HPE_HEADER_OVERFLOW", "431 Request Header Fields Too Large"],
  ["ERR_HTTP_REQUEST_TIMEOUT", "408 Request Timeout"],
]);

interface Mark {
  /** Time on the monotonic clock. */
  readonly at: number;
  /** Bytes of the connection that the client took. */
  readonly taken: number;
}

const longestInterval = 5_000;

/**
 * Cuts clients that do not take answers which are complete on this side. Such a
 * body, and the answers behind it on the connection, would wait in memory as
 * long as the client likes. A body that is still being written is paced by its
 * writer.
 */
class StalledResponses {
  readonly #pace: ClientPace;
  readonly #cut: (response: ServerResponse) => void;
  readonly #open = new Set<ServerResponse>();
  readonly #marks = new WeakMap<ServerResponse, Mark>();
  readonly #timer: NodeJS.Timeout;

  constructor(pace: ClientPace, cut: (response: ServerResponse) => void) {
    this.#pace = pace;
    this.#cut = cut;
    const interval = Math.min(pace.rateWindow / 4, longestInterval);
    this.#timer = setInterval(() => this.#sweep(), interval).unref();
  }

  watch(response: ServerResponse): void {
    this.#open.add(response);
  }

  forget(response: ServerResponse): void {
    this.#open.delete(response);
  }

  /** Ends answers whose clients still wait for the rest. */
  cutAll(): void {
    for (const response of this.#open) this.#cut(response);
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #sweep(): void {
    const at = performance.now();
    for (const response of this.#open) {
      const { socket, writableEnded } = response;
      if (!writableEnded || socket === null) this.#marks.delete(response);
      else {
        const taken = socket.bytesWritten - socket.writableLength;
        if (this.#isStalled(response, { at, taken })) this.#cut(response);
      }
    }
  }

  #isStalled(response: ServerResponse, now: Mark): boolean {
    const before = this.#marks.get(response);
    const waited = before === undefined ? 0 : now.at - before.at;
    if (before !== undefined && waited < this.#pace.rateWindow) return false;
    this.#marks.set(response, now);
    if (before === undefined) return false;
    const least = Math.max(1, (this.#pace.rate * waited) / 1000);
    return now.taken - before.taken < least;
  }
}
