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
import { failure } from "../../errors/index.ts";
import { cut, formatErrorBody } from "./error-response.ts";

/** Hears of what no code foresaw; it must not throw. */
export type OnUnexpected = (error: unknown, where: string) => void;

/** PEM texts. */
export interface TlsMaterial {
  readonly certificate: string;
  readonly key: string;
}

export interface ListenerLimits {
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
  clientHeaders: 10_000,
  rateWindow: 60_000,
};

/** Handler of requests; it may return a promise that rejects with a later failure. */
export type Handle = (
  req: IncomingMessage,
  res: ServerResponse,
) => Promise<void> | void;

/** Milliseconds for which a connection may stand still between requests. */
const keepAlive = 65_000;

/**
 * The HTTP server on its socket; HTTP/2 is not offered. A failing handler ends
 * its connection, never the process.
 */
export class Listener {
  readonly #server: Server | HttpsServer;
  readonly #onUnexpected: OnUnexpected;
  /** All connections: Node lists none of those before their TLS handshake. */
  readonly #sockets = new Set<Socket>();
  /** The answer under way on each connection, and the one that waits behind it. */
  readonly #due = new Map<Socket, ServerResponse[]>();
  /** Connections that end with the answers that are due. */
  readonly #ending = new WeakSet<Socket>();
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
    server.on("clientError", (error: NodeJS.ErrnoException, socket: Socket) => {
      // Other errors, such as those of TLS, are of a connection that can carry no answer.
      if (!/^(?:HPE|ERR_HTTP)_/.test(error.code ?? "")) socket.destroy();
      else if (!this.#endAfterAnswers(socket)) refuseUnread(error, socket);
    });
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

  /** Stops accepting connections, lets answers finish for `grace` ms, then cuts the rest. */
  async close(grace: number): Promise<void> {
    clearInterval(this.#sweep);
    const timer = setTimeout(() => {
      for (const due of this.#due.values()) due.forEach(cut);
      for (const socket of this.#sockets) socket.destroy();
    }, grace);
    await new Promise((resolve) => this.#server.close(resolve));
    clearTimeout(timer);
  }

  async #answer(
    handle: Handle,
    req: IncomingMessage,
    res: ServerResponse,
  ): Promise<void> {
    const { socket } = req;
    if (socket.destroyed) return;
    const due = this.#due.get(socket) ?? [];
    const [before] = due;
    if (due.length > 1) return void this.#endAfterAnswers(socket);
    due.push(res);
    this.#due.set(socket, due);
    res.once("close", () => {
      due.splice(due.indexOf(res), 1);
      if (due.length > 0) return;
      this.#due.delete(socket);
      if (this.#ending.has(socket)) {
        giveUpLater(socket);
        socket.destroySoon();
      }
      // Only a moment later Node counts its connection as idle.
      if (!this.#server.listening)
        setImmediate(() => this.#server.closeIdleConnections());
    });
    try {
      // A client has the whole of an answer a moment before it ends here, and may send its next request then.
      if (before !== undefined) await once(before, "close");
      if (!req.socket.destroyed) await handle(req, res);
    } catch (error) {
      socket.destroy();
      this.#onUnexpected(error, "request");
    }
  }

  /**
   * True while answers are due on a connection, which ends with them: clients of the protocols send no more than one
   * request ahead, and others have to ask again (RFC 9112, 9.3.2).
   */
  #endAfterAnswers(socket: Socket): boolean {
    if (this.#due.get(socket)?.at(-1)?.writableEnded !== false) return false;
    if (this.#ending.has(socket)) socket.destroy();
    this.#ending.add(socket.pause());
    return true;
  }

  /**
   * Cuts clients that were behind at two looks and took too little in between.
   * An answer that waits for its origin leaves nothing for its client to take.
   */
  #cutSlow({ rate, rateWindow }: ListenerLimits): void {
    const least = Math.max(1, (rate * rateWindow) / 1000);
    for (const [{ bytesWritten, writableLength }, [answer]] of this.#due) {
      if (answer === undefined) continue;
      const now = bytesWritten - writableLength;
      const before = this.#taken.get(answer) ?? -Infinity;
      if (writableLength === 0) this.#taken.delete(answer);
      else if (now - before < least) cut(answer);
      else this.#taken.set(answer, now);
    }
  }
}

function makeServer(
  tls: TlsMaterial | undefined,
  limits: ListenerLimits,
): Server | HttpsServer {
  const options: ServerOptions = {
    maxHeaderSize: 16 * 1024,
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

/** Answers in the form of docs/http.md. */
function refuseUnread(error: NodeJS.ErrnoException, socket: Socket): void {
  // It was refused already: each further chunk of such a connection fails, too.
  if (socket.writableEnded) return;
  const statuses: Readonly<Record<string, string>> = {
    HPE_HEADER_OVERFLOW: "431 Request Header Fields Too Large",
    ERR_HTTP_REQUEST_TIMEOUT: "408 Request Timeout",
  };
  const status = statuses[error.code ?? ""] ?? "400 Bad Request";
  const problem = failure("malformed-request", "could not be read", "HTTP/1.1");
  const body = formatErrorBody(problem, crypto.randomUUID());
  giveUpLater(socket);
  socket.end(
    `HTTP/1.1 ${status}\r\nContent-Type: application/json\r\nCache-Control: no-store\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
    // A client that does not close its own side is not waited for.
    () => socket.destroy(),
  );
}

/** A client whose buffers are full does not even take a refusal, or the end. */
function giveUpLater(socket: Socket): void {
  socket.setTimeout(10_000, () => socket.destroy());
}
