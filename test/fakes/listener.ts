import { once } from "node:events";
import type { RequestListener } from "node:http";
import { createServer, type Server } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import { endWithFile } from "../file-end.ts";
import type { IssuedCertificate } from "./authority.ts";

/** An HTTPS server that can go away and come back on the same port. */
export interface Listener {
  readonly port: number;
  /** Connections opened since the start, TLS handshakes that failed included. */
  readonly connections: number;
  /** Destroys every connection; the port refuses new ones afterwards. */
  stop(): Promise<void>;
  restart(): Promise<void>;
}

export async function startListener(
  issued: IssuedCertificate,
  where: { readonly host: string; readonly port: number },
  answer: RequestListener,
): Promise<Listener> {
  const server = createServer(
    { cert: issued.certificate, key: issued.key, keepAliveTimeout: 60_000 },
    answer,
  );
  let connections = 0;
  const sockets = trackSockets(server, () => (connections += 1));
  await listen(server, where.host, where.port);
  endWithFile(() => stop(server, sockets));
  const { port } = server.address() as AddressInfo;
  return {
    port,
    get connections() {
      return connections;
    },
    stop: () => stop(server, sockets),
    restart: async () => {
      await stop(server, sockets);
      await listen(server, where.host, port);
    },
  };
}

function trackSockets(
  server: Server,
  connected: () => void,
): ReadonlySet<Socket> {
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    connected();
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  return sockets;
}

async function listen(
  server: Server,
  host: string,
  port: number,
): Promise<void> {
  server.listen(port, host);
  await once(server, "listening");
}

async function stop(
  server: Server,
  sockets: ReadonlySet<Socket>,
): Promise<void> {
  if (!server.listening) return;
  const closed = once(server, "close");
  server.close();
  for (const socket of sockets) socket.destroy();
  await closed;
}
