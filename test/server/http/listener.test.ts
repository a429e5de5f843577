import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { connect } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { Listener, type Handle } from "../../../src/server/http/listener.ts";
import { readToEnd } from "../../scenes/raw-connection.ts";

const limits = {
  requestHeaders: 16_384,
  clientHeaders: 5_000,
  rate: 0,
  rateWindow: 60_000,
  connections: 100,
};
const flaw = new Error("a flaw");

const open: Listener[] = [];
afterEach(() => Promise.all(open.splice(0).map((one) => one.close(0))));

/** Starts a listener with a flaw, and collects the reported errors. */
async function listenWith(handle: Handle) {
  const reported: unknown[] = [];
  const listener = new Listener(handle, undefined, limits, (error, at) =>
    reported.push([error, at]),
  );
  open.push(listener);
  const port = await listener.listen("127.0.0.1", 0);
  return { port, reported };
}

async function send(port: number, text: string): Promise<string> {
  const socket = connect(port, "127.0.0.1");
  socket.write(text);
  return readToEnd(socket);
}

const request = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";

it.each<[string, Handle]>([
  [
    "throws",
    () => {
      throw flaw;
    },
  ],
  ["rejects", () => Promise.reject(flaw)],
  [
    "rejects later",
    async (req) => {
      await once(req.resume(), "end");
      throw flaw;
    },
  ],
])("ends the connection and goes on when a handler %s", async (_, handle) => {
  const { port, reported } = await listenWith(handle);
  const headers = [
    ...["", "Upgrade: x\r\nConnection: upgrade\r\n"],
    ...["Expect: 100-continue\r\n", "Expect: more\r\n"],
  ];
  for (const more of headers)
    expect(await send(port, request.replace(/\r\n$/, `${more}\r\n`))).toBe("");
  expect(reported).toEqual(headers.map(() => [flaw, "request"]));
});

it("cuts an answer that had begun", async () => {
  const { port, reported } = await listenWith((_, res) => {
    res.writeHead(200, { "Content-Length": 10 });
    res.write("12345");
    return Promise.reject(flaw);
  });
  expect(await send(port, request)).not.toContain(" 400 ");
  expect(reported).toEqual([[flaw, "request"]]);
});

describe("answers to requests that were sent ahead come in their order", () => {
  const large = "x".repeat(300_000);
  /** Answers each request with its path and much else, and not at once. */
  const slowly: Handle = async ({ url = "" }, res) => {
    await new Promise((resolve) => setImmediate(resolve));
    res.writeHead(200, { "Content-Length": url.length + large.length });
    res.write(url);
    await new Promise((resolve) => setImmediate(resolve));
    res.end(large);
  };
  const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`;
  const statusesOf = (text: string) =>
    [...text.matchAll(/HTTP\/1\.1 (\d+) /g)].map(([, status]) => status);

  it.each([
    ["no HTTP", "hello\r\n\r\n", "400"],
    ["a bare line feed", "GET / HTTP/1.1\nHost: a\r\nb\r\n\r\n", "400"],
    ["a header of 20 KB", get("/c").replace("a", "a".repeat(20_000)), "431"],
    ["a tunnel", "CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n", "405"],
    [
      "a malformed chunk",
      "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
      "400",
    ],
  ])("%s, which ends the connection", async (_, bad, status) => {
    const { port, reported } = await listenWith(slowly);
    const text = await send(port, `${get("/a")}${get("/b")}${bad}${get("/z")}`);
    expect(statusesOf(text)).toEqual(["200", "200", status]);
    const bodies = text.split(large).map((part) => part.split("\r\n\r\n")[1]);
    expect(bodies.slice(0, 2)).toEqual(["/a", "/b"]);
    expect(reported).toEqual([]);
  });

  it("and nothing after one that says that it is the last", async () => {
    const { port } = await listenWith(slowly);
    const first = get("/a").replace(
      "\r\n\r\n",
      "\r\nConnection: close\r\n\r\n",
    );
    const text = await send(port, `${first}hello\r\n\r\n`);
    expect(statusesOf(text)).toEqual(["200"]);
    expect(text.endsWith(large)).toBe(true);
  });
});

it("outlives tunnels whose clients are gone before the answer", async () => {
  const { port, reported } = await listenWith((_, res) => void res.end());
  const tunnel = "CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n";
  const leave = async (): Promise<void> => {
    const socket = connect(port, "127.0.0.1");
    await once(socket, "connect");
    socket.write(tunnel, () => socket.resetAndDestroy());
    await once(socket, "close");
  };
  await Promise.all(Array.from({ length: 50 }, leave));
  expect(await send(port, tunnel)).toMatch(/^HTTP\/1\.1 405 /);
  expect(reported).toEqual([]);
});

it.each([101, 5_000])(
  "does no work for %i requests that a client sent without reading, once it has left",
  async (count) => {
    let asked = 0;
    const begun = Promise.withResolvers<ServerResponse>();
    const { port, reported } = await listenWith((_, res) => {
      asked += 1;
      begun.resolve(res);
    });
    const socket = connect(port, "127.0.0.1").on("error", () => undefined);
    socket.write(request.repeat(count));
    const res = await begun.promise;
    // So many are not waited for: the connection ends by itself.
    await once(res, "close");
    expect([asked, reported]).toEqual([1, []]);
  },
);
