import { connect } from "node:net";
import { networkInterfaces } from "node:os";
import { startMirror } from "../running-mirror.ts";
import { readToEnd } from "./raw-connection.ts";

// Run in a network of its own: asks a daemon from every link-local address and prints who it saw.
const listen = { host: "::", port: 0, tls: "off" };
const mirror = await startMirror({ config: { listen } });
const port = Number(new URL(mirror.url).port);
const found = Object.entries(networkInterfaces()).flatMap(
  ([name, addresses = []]) =>
    addresses
      .filter(({ address }) => address.startsWith("fe80:"))
      .map(({ address }) => `${address}%${name}`),
);
const answers = await Promise.all(
  found.map(async (host) => {
    const socket = connect({ host, port });
    socket.write(
      "GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
    );
    return { host, answer: (await readToEnd(socket)).split("\r\n")[0] };
  }),
);
const status = await mirror.stop();
const clients = mirror.log.flatMap(({ client }) => client ?? []);
process.stdout.write(JSON.stringify({ answers, clients, status }));
