import { once } from "node:events";
import type { RequestListener } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import { endWithFile } from "../file-end.ts";

export type Listener = Awaited<ReturnType<typeof startListener>>;

/** An HTTPS server that can go away and come back on the same port. */
export async function startListener(
  {
    certificate: cert,
    key,
  }: { readonly certificate: string; readonly key: string },
  answer: RequestListener,
  { host = "127.0.0.1", port: wanted = 0 } = {},
) {
  const server = createServer({ cert, key, keepAliveTimeout: 60_000 }, answer);
  const sockets = new Set<Socket>();
  let connections = 0;
  server.on("connection", (socket: Socket) => {
    connections += 1;
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  const listen = async (on: number) => {
    server.listen(on, host);
    await once(server, "listening");
  };
  const stop = async () => {
    if (!server.listening) return;
    const closed = once(server, "close");
    server.close();
    for (const socket of sockets) socket.destroy();
    await closed;
  };
  await listen(wanted);
  endWithFile(stop);
  const { port } = server.address() as AddressInfo;
  return {
    port,
    /** Connections opened since the start, TLS handshakes that failed included. */
    get connections() {
      return connections;
    },
    /** Destroys every connection; the port refuses new ones afterwards. */
    stop,
    restart: async () => {
      await stop();
      await listen(port);
    },
  };
}
