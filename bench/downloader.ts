import { once } from "node:events";
import { readFileSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import { get } from "node:https";

// Run as a process of its own: node downloader.ts '{"url", "caFile", "bytes", "clients"}'.
// Prints a Download (download.ts).

const { url, caFile, bytes, clients } = JSON.parse(process.argv[2] ?? "") as {
  readonly url: string;
  readonly caFile: string;
  readonly bytes: number;
  readonly clients: number;
};
const ca = readFileSync(caFile);
let firstByte = Infinity;

async function receive(): Promise<void> {
  const request = get(url, { ca, agent: false });
  const [response] = (await once(request, "response")) as [IncomingMessage];
  let received = 0;
  response.on("data", (chunk: Buffer) => {
    firstByte = Math.min(firstByte, performance.now() - start);
    received += chunk.length;
  });
  await once(response, "end");
  if (response.statusCode !== 200 || received !== bytes)
    throw new Error(`${response.statusCode}: ${received} of ${bytes} bytes`);
}

const start = performance.now();
await Promise.all(Array.from({ length: clients }, receive));
const total = performance.now() - start;
process.stdout.write(JSON.stringify({ firstByte, total }));
