import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, expect, it } from "vitest";
import type { Sha256 } from "../../../src/address/hash.ts";
import { isBucketFailure } from "../../../src/errors/index.ts";
import { Bucket } from "../../../src/store/bucket/bucket.ts";

/** Answer to every request to the bucket. */
let answer: (response: ServerResponse) => void;
const server = createServer((_, response) => answer(response));
server.listen(0, "127.0.0.1");
await once(server, "listening");
const { port } = server.address() as AddressInfo;
const bucket = new Bucket(
  {
    endpoint: new URL(`http://127.0.0.1:${port}/`),
    ...{ bucket: "hostile", region: "us-east-1", prefix: "p/" },
    ...{ pathStyle: true, ca: undefined },
    keys: { accessKeyId: "any", secretAccessKey: "any" },
  },
  { connect: 2_000, firstByte: 8_000, idle: 8_000 },
);
afterAll(async () => {
  await bucket.close();
  server.closeAllConnections();
  server.close();
});

/** Sends bytes until the reader goes away. */
function sendWithoutEnd(response: ServerResponse): void {
  const piece = Buffer.alloc(1024 * 1024);
  const send = () => {
    while (!response.destroyed && response.write(piece));
    if (!response.destroyed) response.once("drain", send);
  };
  response.writeHead(200, { "Transfer-Encoding": "chunked" });
  send();
}

const sha256 = "a".repeat(64) as Sha256;

it.each<[string, (response: ServerResponse) => void]>([
  [
    "an object that is cut on its way",
    (response) => {
      response.writeHead(200, { "Content-Length": 100 }).write("half");
      setImmediate(() => response.destroy());
    },
  ],
  ["an object without an end", sendWithoutEnd],
  [
    "an object without a length",
    (response) => void response.writeHead(200).end("short"),
  ],
  [
    "the page of a proxy in between",
    (response) => {
      const page = "<html>log in</html>";
      response.writeHead(200, { "Content-Type": "text/html" }).end(page);
    },
  ],
])(
  "an archive is not had from %s, which is a failure of the bucket",
  async (_, give) => {
    answer = give;
    const read = async () => {
      await bucket.look();
      const found = await bucket.open(sha256, 1_000);
      return found && Array.fromAsync(found.body);
    };
    const error: unknown = await read().catch((thrown: unknown) => thrown);
    const { cause } = error as Error;
    expect([error, cause].some(isBucketFailure)).toBe(true);
  },
);
