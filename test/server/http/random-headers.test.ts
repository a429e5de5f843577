import { randomInt } from "node:crypto";
import { afterAll, beforeAll, expect, it } from "vitest";
import { effort } from "../../effort.ts";
import { startMirror, type RunningMirror } from "../../running-mirror.ts";
import { openConnection } from "../../scenes/raw-connection.ts";

/** Header sets; 100 000 with an effort of 50. */
const sets = 2_000 * effort;
const atOnce = 50;

let mirror: RunningMirror;
beforeAll(async () => {
  const listen = { port: 0, tls: "off", trustedProxies: ["127.0.0.0/8"] };
  mirror = await startMirror({
    config: {
      listen,
      log: { level: "error" },
    },
  });
});
afterAll(() => mirror.kill());

const names = [
  ...["X-Forwarded-For", "X-Forwarded-For", "X-Forwarded-For", "Forwarded"],
  ...["Host", "Authorization", "Range", "If-Range", "If-None-Match", "Expect"],
  ...["Connection", "Upgrade", "Content-Length", "Transfer-Encoding", "TE"],
  ...["Accept", "Cookie", "Referer", "User-Agent", "Via", "__proto__", "Date"],
];
const words = [
  ...[
    "fe80::1%a.b",
    "10.1.2.3",
    "127.0.0.1",
    "fe80::9%br-lan",
    "::ffff:1.2.3.4%",
  ],
  ...[
    "%",
    ",",
    ", ",
    ":",
    "[::1]:80",
    "0x7f.1",
    "unknown",
    "1e3",
    "::%25",
    "-1",
  ],
  ...[
    "Bearer ",
    "Basic ",
    "bytes=",
    "0-",
    "-",
    "*",
    '"',
    "W/",
    "chunked",
    "close",
  ],
  ...["100-continue", "h2c", "constructor", "\u0001", "\u00ff", "é", " ", "\t"],
];
const paths = [
  ...["/", "/healthz", "/metrics", "/.well-known/terraform.json", "*"],
  ...["/providers/registry.terraform.io/acme/demo/index.json", "/x%", "//"],
  ...["/v1/modules/registry.terraform.io/a/b/c/versions", "http://a/", ""],
  "/providers/registry.terraform.io/acme/demo/1764000000000..x/y.zip/",
];
const methods = [
  "GET",
  "GET",
  "GET",
  "HEAD",
  "POST",
  "OPTIONS",
  "CONNECT",
  "M-X",
];

function pick(all: readonly string[]): string {
  return all[randomInt(all.length)] ?? "";
}

function randomHeader(): string {
  const value = Array.from({ length: randomInt(8) }, () => pick(words));
  return `${pick(names)}: ${value.join("")}\r\n`;
}

function randomRequest(): string {
  const headers = Array.from({ length: randomInt(7) }, randomHeader);
  return `${pick(methods)} ${pick(paths)} HTTP/1.${randomInt(2)}\r\nHost: a\r\n${headers.join("")}\r\n`;
}

/** Sends one request and waits for some answer, or for the end of the connection. */
async function send(text: string): Promise<void> {
  const socket = await openConnection(mirror);
  socket.on("error", () => undefined);
  const ended = new Promise((resolve) => {
    socket.once("data", resolve);
    socket.once("close", resolve);
  });
  // The server answers a missing body or a malformed request once the client has ended.
  socket.end(text, "latin1");
  await ended;
  socket.destroy();
}

it(
  "lives through random headers",
  async () => {
    for (let done = 0; done < sets; done += atOnce)
      await Promise.all(
        Array.from({ length: atOnce }, () => send(randomRequest())),
      );
    expect(mirror.process.exitCode).toBeNull();
    expect((await mirror.get("/healthz")).status).toBe(200);
    expect(mirror.log).toEqual([]);
  },
  30_000 * effort,
);
