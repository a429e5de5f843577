import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import { connect, type AddressInfo, type Socket } from "node:net";
import type { Duplex } from "node:stream";

export interface ProxyOptions {
  /** `host:port` as asked for to the `host:port` that is reached instead. */
  readonly routes?: Readonly<Record<string, string>>;
  /** Answers every CONNECT with this status. */
  readonly refuse?: string;
}

export type Proxy = Awaited<ReturnType<typeof startProxy>>;

/** A corporate proxy: CONNECT to any host, which it resolves as it likes. */
export async function startProxy({ routes, refuse }: ProxyOptions = {}) {
  /** `host:port` and Proxy-Authorization of every CONNECT, in order. */
  const tunnels: string[] = [];
  const credentials: (string | undefined)[] = [];
  const sockets = new Set<Duplex>();
  const server = createServer((_, response) => response.writeHead(405).end());
  server.on(
    "connect",
    (request: IncomingMessage, client: Socket, head: Buffer) => {
      const target = request.url ?? "";
      tunnels.push(target);
      credentials.push(request.headers["proxy-authorization"]);
      sockets.add(client);
      client.on("error", () => undefined);
      if (refuse === undefined)
        tunnel(client, head, routes?.[target] ?? target);
      else client.end(`HTTP/1.1 ${refuse}\r\nContent-Length: 0\r\n\r\n`);
    },
  );
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    ...{ url: `http://127.0.0.1:${port}`, tunnels, credentials },
    stop: async () => {
      const closed = once(server, "close");
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

function tunnel(client: Socket, head: Buffer, target: string): void {
  const { hostname, port } = new URL(`tcp://${target}`);
  const upstream = connect(Number(port), hostname.replace(/^\[|\]$/g, ""));
  upstream.on("connect", () => {
    client.write("HTTP/1.1 200 Connection established\r\n\r\n");
    upstream.write(head);
    client.pipe(upstream).pipe(client);
  });
  upstream.on("error", () => client.destroy());
  client.on("close", () => upstream.destroy());
}
