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
  ["a header of 20 KB", request.replace("a", "a".repeat(20_000)), 1],
  ["a tunnel", "CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n", 1],
])(
  "ends a connection with the answers under way when %s are sent ahead",
  async (_, ahead, answered) => {
    let asked = 0;
    const { port, reported } = await listenWith((req, res) => {
      asked += 1;
      return slowly(req, res);
    });
    const text = await send(port, `${request}${ahead}`);
    expect(text.match(/HTTP\/1\.1 \d+/g)).toEqual(
      Array.from({ length: answered }, () => "HTTP/1.1 200"),
    );
    expect(text.endsWith(`/${large}`)).toBe(true);
    expect([asked, reported]).toEqual([answered, []]);
  },
);

it("answers a request that is sent ahead after the one before, and those that follow", async () => {
  const { port, reported } = await listenWith(slowly);
  const socket = connect(port, "127.0.0.1").setEncoding("utf8");
  let text = "";
  const sendOn = request
    .replace("/ ", "/3 ")
    .replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n");
  socket.on("data", (some: string) => {
    text += some;
    if (text.endsWith(`/2${large}`)) socket.write(sendOn);
  });
  socket.write(
    ["/1 ", "/2 "].map((path) => request.replace("/ ", path)).join(""),
  );
  await once(socket, "close");
  const paths = text.match(/\/\d(?=x)/g);
  expect([paths, text.endsWith(large), reported]).toEqual([
    ["/1", "/2", "/3"],
    ...[true, []],
  ]);
});

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

it.each([4, 5_000])(
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
