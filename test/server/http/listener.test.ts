import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { connect, type Socket } from "node:net";
import { afterEach, expect, it } from "vitest";
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

const flawed: readonly (readonly [string, Handle])[] = [
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
];

it.each(flawed)(
  "ends the connection and goes on when a handler %s",
  async (_, handle) => {
    const { port, reported } = await listenWith(handle);
    for (const text of [
      request,
      request.replace(
        "\r\n\r\n",
        "\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n",
      ),
      request.replace("\r\n\r\n", "\r\nExpect: 100-continue\r\n\r\n"),
      request.replace("\r\n\r\n", "\r\nExpect: more\r\n\r\n"),
    ]) {
      expect(await send(port, text)).toBe("");
    }
    expect(reported).toEqual(
      Array.from({ length: 4 }, () => [flaw, "request"]),
    );
  },
);

it("cuts an answer that had begun", async () => {
  const { port, reported } = await listenWith((_, res) => {
    res.writeHead(200, { "Content-Length": 10 });
    res.write("12345");
    return Promise.reject(flaw);
  });
  expect(await send(port, request)).not.toContain(" 400 ");
  expect(reported).toEqual([[flaw, "request"]]);
});

it.each(
  Object.entries({
    "a request": request,
    "no HTTP": "hello\r\n\r\n",
    "a header of 20 KB": request.replace("a", "a".repeat(20_000)),
    "a tunnel": "CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n",
  }),
)(
  "ends a connection with the answer under way when %s is sent ahead",
  async (_, ahead) => {
    const large = "x".repeat(300_000);
    let asked = 0;
    const { port, reported } = await listenWith(async (_, res) => {
      asked += 1;
      await new Promise((resolve) => setImmediate(resolve));
      res.writeHead(200, { "Content-Length": large.length + 1 });
      res.write("<");
      await new Promise((resolve) => setImmediate(resolve));
      res.end(large);
    });
    const text = await send(port, `${request}${ahead}`);
    expect(text.match(/HTTP\/1\.1 \d+/g)).toEqual(["HTTP/1.1 200"]);
    expect(text.endsWith(`<${large}`)).toBe(true);
    expect([asked, reported]).toEqual([1, []]);
  },
);

it("outlives tunnels whose clients reset the connection", async () => {
  const { port, reported } = await listenWith((_, res) => void res.end());
  const tunnel = "CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n";
  const sockets = Array.from({ length: 50 }, () => connect(port, "127.0.0.1"));
  await Promise.all(sockets.map((socket) => reset(socket, tunnel)));
  expect(await send(port, tunnel)).toMatch(/^HTTP\/1\.1 405 /);
  expect(reported).toEqual([]);
});

/** Sends, and is gone before the answer. */
async function reset(socket: Socket, text: string): Promise<void> {
  await once(socket, "connect");
  socket.write(text, () => socket.resetAndDestroy());
  await once(socket, "close");
}

it.each([3, 5_000])(
  "cuts a client that sends %i requests at once, and does no work for them",
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
    await once(res, "close");
    expect([asked, reported]).toEqual([1, []]);
  },
);
