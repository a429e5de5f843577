import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { connect } from "node:net";
import { connect as connectTls } from "node:tls";
import { afterEach, expect, it } from "vitest";
import {
  Listener,
  type Handle,
  type TlsMaterial,
} from "../../../src/server/http/listener.ts";
import { createAuthority } from "../../fakes/authority.ts";
import { readToEnd } from "../../scenes/raw-connection.ts";

const limits = {
  // Longer than a test may take.
  clientHeaders: 600_000,
  rate: 0,
  rateWindow: 60_000,
  connections: 100,
};
const flaw = new Error("a flaw");

const open: Listener[] = [];
afterEach(() => Promise.all(open.splice(0).map((one) => one.close(0))));

/** Starts a listener with a flaw, and collects the reported errors. */
async function listenWith(handle: Handle, tls?: TlsMaterial) {
  const reported: unknown[] = [];
  const listener = new Listener(handle, tls, limits, (error, at) =>
    reported.push([error, at]),
  );
  open.push(listener);
  const port = await listener.listen("127.0.0.1", 0);
  return { listener, port, reported };
}

async function send(port: number, text: string): Promise<string> {
  const socket = connect(port, "127.0.0.1");
  socket.write(text);
  return readToEnd(socket);
}

const request = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
const tunnel = "CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n";

it.each<[string, Handle]>([
  [
    "throws",
    () => {
      throw flaw;
    },
  ],
  [
    "rejects later",
    async (req) => {
      await once(req.resume(), "end");
      throw flaw;
    },
  ],
  [
    "rejects in the middle of its answer",
    (_, res) => {
      res.writeHead(200, { "Content-Length": 10 });
      res.write("12345");
      return Promise.reject(flaw);
    },
  ],
])("ends the connection and goes on when a handler %s", async (_, handle) => {
  const { port, reported } = await listenWith(handle);
  for (const header of [
    ...["A: b", "Upgrade: x\r\nConnection: upgrade"],
    ...["Expect: 100-continue", "Expect: more"],
  ]) {
    const text = request.replace("\r\n\r\n", `\r\n${header}\r\n\r\n`);
    expect(await send(port, text)).toMatch(/^$|^HTTP\/1\.1 200 [^]*12345$/);
  }
  expect(reported).toEqual(Array<unknown>(4).fill([flaw, "request"]));
});

const large = "x".repeat(300_000);

/** Answers with the path and much else, and not at once. */
const slowly: Handle = async ({ url = "" }, res) => {
  await new Promise((resolve) => setImmediate(resolve));
  res.writeHead(200, { "Content-Length": url.length + large.length });
  res.write(url);
  await new Promise((resolve) => setImmediate(resolve));
  res.end(large);
};

it.each([
  ["two requests", request.repeat(2), 2],
  ["no HTTP", "hello\r\n\r\n", 1],
])(
  "ends a connection with the answers under way when %s are sent ahead",
  async (_, ahead, answered) => {
    let asked = 0;
    const { port, reported } = await listenWith((req, res) => {
      asked += 1;
      return slowly(req, res);
    });
    const text = await send(port, `${request}${ahead}`);
    const statuses = Array<string>(answered).fill("HTTP/1.1 200");
    expect(text.match(/HTTP\/1\.1 \d+/g)).toEqual(statuses);
    expect(text.endsWith(`/${large}`)).toBe(true);
    expect([asked, reported]).toEqual([answered, []]);
  },
);

it("answers a request that is sent ahead after the one before, and those that follow", async () => {
  const { port, reported } = await listenWith(slowly);
  const ask = (path: string) => request.replace("/", path);
  const socket = connect(port, "127.0.0.1").setEncoding("utf8");
  let text = "";
  socket.on("data", (some: string) => {
    text += some;
    if (text.endsWith(`/2${large}`)) socket.write(ask("/3"));
    if (text.endsWith(`/3${large}`)) socket.end();
  });
  socket.write(ask("/1") + ask("/2"));
  await once(socket, "close");
  expect(text.match(/\/\d(?=x)/g)).toEqual(["/1", "/2", "/3"]);
  expect(reported).toEqual([]);
});

it("makes no tunnel, and outlives clients that reset its connection, also behind an answer that is under way", async () => {
  const { port, reported } = await listenWith(() => undefined);
  for (const text of [tunnel, request + tunnel]) {
    const socket = connect(port, "127.0.0.1");
    socket.write(text, () => socket.resetAndDestroy());
    await once(socket, "close");
    expect(await send(port, text)).toBe("");
  }
  expect(reported).toEqual([]);
});

it("waits for no TLS handshake and no answer once it has to close", async () => {
  const authority = await createAuthority();
  const tls = await authority.issue(["127.0.0.1"]);
  const { listener, port } = await listenWith(() => undefined, tls);
  const silent = connect(port, "127.0.0.1");
  await once(silent, "connect");
  const ca = authority.caPem;
  const busy = connectTls({ port, host: "127.0.0.1", ca });
  busy.write(request);
  await once(busy, "secureConnect");
  const ended = Promise.all([readToEnd(silent), readToEnd(busy)]);
  await listener.close(0);
  expect(await ended).toEqual(["", ""]);
});

it("cuts a client that sends 5,000 requests at once, and does no work for them", async () => {
  let asked = 0;
  const begun = Promise.withResolvers<ServerResponse>();
  const { port, reported } = await listenWith((_, res) => {
    asked += 1;
    begun.resolve(res);
  });
  const socket = connect(port, "127.0.0.1").on("error", () => undefined);
  socket.write(request.repeat(5_000));
  const res = await begun.promise;
  await once(res, "close");
  expect([asked, reported]).toEqual([1, []]);
});
