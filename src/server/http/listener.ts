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
import { type AddressInfo, Socket } from "node:net";
import type { Duplex } from "node:stream";
import { failure, type ProvenderError } from "../../errors/index.ts";
import { cut, formatErrorBody } from "./error-response.ts";

/** Hears of what no code foresaw; it must not throw. */
export type OnUnexpected = (error: unknown, where: string) => void;

/** PEM texts. */
interface TlsMaterial {
  readonly certificate: string;
  readonly key: string;
}

export interface ListenerLimits {
  /** Bytes. */
  readonly requestHeaders: number;
  /** Milliseconds for a client to send its headers, and to take the TLS handshake. */
  readonly clientHeaders: number;
  /** Connections open at once; more are closed as they come. */
  readonly connections: number;
  /** A client that waits for none of us and takes fewer bytes a second over `rateWindow` milliseconds is cut. */
  readonly rate: number;
  readonly rateWindow: number;
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
 * its connection, never the process.
 */
export class Listener {
  readonly #server: Server | HttpsServer;
  readonly #onUnexpected: OnUnexpected;
  readonly #sockets = new Set<Socket>();
  /** Answers that are not sent yet, by connection, the first request's first. */
  readonly #due = new Map<Duplex, Set<ServerResponse>>();
  /** Connections with a request that could not be read. */
  readonly #unread = new WeakSet<Duplex>();
  /** Bytes that clients which were behind at the last look had taken then. */
  readonly #taken = new WeakMap<ServerResponse, number>();
  readonly #sweep: NodeJS.Timeout;

  constructor(
    handle: Handle,
    tls: TlsMaterial | undefined,
    limits: ListenerLimits,
    onUnexpected: OnUnexpected,
  ) {
    this.#onUnexpected = onUnexpected;
    const server = makeServer(tls, limits);
    this.#server = server;
    // Without a listener Node would answer the last two itself.
    for (const event of ["request", "checkContinue", "checkExpectation"])
      server.on(event, (req: IncomingMessage, res: ServerResponse) => {
        void this.#answer(handle, req, res);
      });
    server.on("clientError", (error, socket) =>
      this.#refuseUnread(error, socket),
    );
    server.on("connect", (_, socket) =>
      after(this.#dueOn(socket).at(-1), () => refuseTunnel(socket)),
    );
    server.on("connection", (socket: Socket) => {
      this.#sockets.add(socket);
      socket.once("close", () => this.#sockets.delete(socket));
    });
    // Errors of accepting a connection come long after listening began; the
    // next connection may succeed.
    server.on("error", (error) => {
      if (server.listening) onUnexpected(error, "listening socket");
    });
    const sweep = () => this.#cutSlow(limits);
    this.#sweep = setInterval(sweep, limits.rateWindow).unref();
  }

  /** Resolves with the port. */
  async listen(host: string, port: number): Promise<number> {
    try {
      this.#server.listen({ host, port });
      await once(this.#server, "listening");
    } catch (error) {
      const { code = "unknown reason" } = error as NodeJS.ErrnoException;
      throw failure("listen", `${host}:${port}`, code, { cause: error });
    }
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
    clearInterval(this.#sweep);
    const timer = setTimeout(() => {
      for (const due of this.#due.values()) due.forEach(cut);
      for (const socket of this.#sockets) socket.destroy();
    }, grace);
    await new Promise((resolve) => this.#server.close(resolve));
    clearTimeout(timer);
  }

  /** The requests of a connection one after the other, so that a client that sends many at once does not hold up other connections. */
  async #answer(
    handle: Handle,
    req: IncomingMessage,
    res: ServerResponse,
  ): Promise<void> {
    const { socket } = req;
    // The connection was cut for a request before this one.
    if (socket.destroyed) return;
    try {
      const before = this.#expect(socket, res);
      if (before !== undefined) await once(before, "close");
      const isRefused = !req.complete && this.#unread.has(socket);
      if (!req.socket.destroyed && !isRefused) await handle(req, res);
    } catch (error) {
      socket.destroy();
      this.#onUnexpected(error, "request");
    }
  }

  /** Returns the answer that goes before this one. */
  #expect(socket: Socket, res: ServerResponse): ServerResponse | undefined {
    let due = this.#due.get(socket);
    if (due === undefined) {
      this.#due.set(socket, (due = new Set()));
      socket.once("close", () => this.#due.delete(socket));
    }
    const before = [...due].at(-1);
    due.add(res);
    if (due.size > mostPipelined) socket.destroy();
    res.once("close", () => {
      due.delete(res);
      // Only a moment later Node counts its connection as idle.
      if (!this.#server.listening)
        setImmediate(() => this.#server.closeIdleConnections());
    });
    return before;
  }

  /**
   * Answers a request that Node's parser refused, after the requests before it.
   * For a request with an unreadable body, this is the answer.
   */
  #refuseUnread(error: NodeJS.ErrnoException, socket: Duplex): void {
    // Each further chunk of such a connection fails, too.
    if (this.#unread.has(socket)) return;
    this.#unread.add(socket);
    const due = this.#dueOn(socket);
    const own = due.at(-1)?.req.complete === false ? due.pop() : undefined;
    // Other errors, such as those of TLS, are of a connection that can carry no answer.
    const isOfParser = /^(?:HPE|ERR_HTTP)_/.test(error.code ?? "");
    if (own?.headersSent === true || !isOfParser) socket.destroy();
    else after(due.at(-1), () => answerUnread(error, socket));
  }

  /**
   * Cuts clients that were behind at two looks and took too little in between.
   * An answer that waits for its origin leaves nothing for its client to take.
   */
  #cutSlow({ rate, rateWindow }: ListenerLimits): void {
    const least = Math.max(1, (rate * rateWindow) / 1000);
    for (const [first] of this.#due.values()) {
      const { socket } = first ?? {};
      if (first === undefined || !socket) continue;
      const { bytesWritten, writableLength } = socket;
      const now = bytesWritten - writableLength;
      const before = this.#taken.get(first) ?? -Infinity;
      if (writableLength === 0) this.#taken.delete(first);
      else if (now - before < least) cut(first);
      else this.#taken.set(first, now);
    }
  }

  #dueOn(socket: Duplex): ServerResponse[] {
    return [...(this.#due.get(socket) ?? [])];
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

/** Answers in the form of docs/http.md. */
function answerUnread(error: NodeJS.ErrnoException, socket: Duplex): void {
  const status = clientErrorStatuses.get(error.code ?? "") ?? "400 Bad Request";
  refuse(
    socket,
    status,
    failure("malformed-request", "could not be read", "HTTP/1.1"),
  );
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
  // A client whose buffers are full does not even take this.
  if (socket instanceof Socket)
    socket.setTimeout(10_000, () => socket.destroy());
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
