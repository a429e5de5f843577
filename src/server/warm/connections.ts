import type { Socket } from "node:net";
import { Server as TlsServer } from "node:tls";
import { guarded } from "../http/guarded.ts";
import type { Front } from "../http/listener.ts";
import type { ClientPace } from "../http/paced-write.ts";
import { StalledResponses } from "../http/stalled-responses.ts";
import { WarmConnection, type WarmConnectionParts } from "./connection.ts";

/**
 * Connections that have asked for nothing but warm documents, in requests that
 * are known by their bytes: they are answered without the HTTP server, whose way
 * takes longer than all else that such an answer needs. With the first bytes that
 * are anything else, a connection becomes the HTTP server's for good.
 */
export class WarmConnections implements Front {
  readonly #parts: WarmConnectionParts;
  readonly #stalled: StalledResponses<WarmConnection>;
  readonly #held = new Set<WarmConnection>();
  #isClosing = false;

  constructor(parts: WarmConnectionParts, pace: ClientPace) {
    this.#parts = parts;
    this.#stalled = new StalledResponses(pace, ({ socket }) =>
      socket.destroy(),
    );
  }

  /** In the place of Node's own listeners, which take over what is handed over. */
  standBefore(server: NodeJS.EventEmitter): void {
    const event =
      server instanceof TlsServer ? "secureConnection" : "connection";
    const listeners = server.listeners(event);
    server.removeAllListeners(event);
    const serve = (socket: Socket) => {
      for (const listener of listeners) listener.call(server, socket);
    };
    const { onUnexpected } = this.#parts;
    const take = guarded(
      (socket: Socket) => this.#take(socket, () => serve(socket)),
      (error, socket) => {
        socket.destroy();
        onUnexpected(error, "connection");
      },
    );
    server.on(event, take);
  }

  #take(socket: Socket, serve: () => void): void {
    const leave = () => {
      this.#held.delete(connection);
      this.#stalled.forget(connection);
      socket.off("close", leave);
    };
    const handOver = () => {
      leave();
      serve();
    };
    const connection = new WarmConnection(socket, handOver, this.#parts);
    this.#held.add(connection);
    this.#stalled.watch(connection);
    socket.once("close", leave);
    // It was accepted before, and its TLS handshake took until now.
    if (this.#isClosing) connection.close();
  }

  close(): void {
    this.#isClosing = true;
    for (const connection of this.#held) connection.close();
    this.#stalled.close();
  }
}
