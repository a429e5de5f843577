import { readFileSync } from "node:fs";
import { connect, type TLSSocket } from "node:tls";

// Run as a process of its own: node request-generator.ts '{"url", "caFile", "connections", "seconds"}'.
// Prints responses a second. It writes and counts bytes by itself, because node:https takes longer for a request than a server.

const { url, caFile, connections, seconds } = JSON.parse(
  process.argv[2] ?? "",
) as {
  readonly url: string;
  readonly caFile: string;
  readonly connections: number;
  readonly seconds: number;
};
const { hostname, port, host } = new URL(url);
const path = url.slice(url.indexOf(host) + host.length);
const ca = readFileSync(caFile);
const request = Buffer.from(
  `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nUser-Agent: Terraform/1.14.0 (+https://www.terraform.io)\r\nAccept-Encoding: gzip\r\n\r\n`,
);
let responses = 0;

function ask(socket: TLSSocket): void {
  let left = 0;
  socket.on("data", (chunk: Buffer) => {
    left = (left === 0 ? lengthOf(chunk) : left) - chunk.length;
    if (left > 0) return;
    responses++;
    socket.write(request);
  });
  socket.write(request);
}

/** Bytes of a response whose head is in its first chunk. */
function lengthOf(chunk: Buffer): number {
  const end = chunk.indexOf("\r\n\r\n");
  const head = chunk.toString("latin1", 0, end);
  const length = /^HTTP\/1\.1 200 .*\r\ncontent-length: (\d+)/is.exec(head);
  if (end < 0 || length === null) throw new Error(`unexpected: ${head}`);
  return end + 4 + Number(length[1]);
}

for (let n = 0; n < connections; n++) {
  const socket = connect({ host: hostname, port: Number(port), ca }, () =>
    ask(socket),
  );
}
const start = performance.now();
setTimeout(() => {
  const elapsed = (performance.now() - start) / 1000;
  process.stdout.write(String(responses / elapsed), () => process.exit());
}, seconds * 1000);
