import { describe, expect, it } from "vitest";
import { startMirror } from "../../running-mirror.ts";
import { exchange, type RawAnswer } from "../../scenes/raw-connection.ts";

const secure = await startMirror();
const plain = await startMirror({
  config: { listen: { port: 0, tls: "off" } },
});

/** One answer in the contract's form, and then the end of the connection. */
function expectOneRefusal(
  answer: RawAnswer,
  status = 400,
  code = "malformed-request",
): void {
  const { headers, body, text } = answer;
  expect(answer.status).toBe(status);
  expect(headers.get("content-type")).toBe("application/json");
  expect(headers.get("cache-control")).toBe("no-store");
  expect(headers.get("connection")).toBe("close");
  expect(text.match(/HTTP\/1\.1 \d/g)).toHaveLength(1);
  expect(JSON.parse(body)).toMatchObject({
    errors: [expect.stringMatching(/\.$/)],
    code,
    requestId: expect.any(String) as string,
  });
}

const provider = "/providers/registry.terraform.io/acme/demo";
const next = "GET /healthz HTTP/1.1\r\nHost: second\r\n\r\n";

describe.each(["TLS", "no TLS"])("over %s", (kind) => {
  const send = (text: string) =>
    exchange(kind === "TLS" ? secure : plain, text);

  const start = "GET /healthz HTTP/1.1\r\nHost: mirror\r\n";

  it.each([
    "Content-Length: 5\r\n\r\nhello",
    "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
    "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "Content-Length: 0\r\nContent-Length: 5\r\n\r\nhello",
    "Content-Length: 5, 5\r\n\r\nhello",
    "Content-Length: +5\r\n\r\nhello",
    "Content-Length: -1\r\n\r\n",
    "Content-Length: 0x5\r\n\r\nhello",
    "Content-Length: \r\n\r\n",
    "Transfer-Encoding: xchunked\r\n\r\n",
    "Transfer-Encoding: chunked, identity\r\n\r\n",
    "Transfer-Encoding:\tchunked\r\n\r\n0\r\n\r\n",
    "Transfer-Encoding : chunked\r\n\r\n",
    "Transfer-Encoding: identity\r\nTransfer-Encoding: chunked\r\n\r\n",
    "X-A: b\r\n\tTransfer-Encoding: chunked\r\n\r\n",
    "X-A: b\nTransfer-Encoding: chunked\r\n\r\n",
    "X-A: \0\r\n\r\n",
    "Host: other\r\n\r\n",
    "host: mirror\r\n\r\n",
    "Expect: 100-continue\r\nContent-Length: 5\r\n\r\nhello",
    "Expect: more\r\n\r\n",
  ])("refuses %j behind a good Host header, and closes", async (rest) => {
    expectOneRefusal(await send(`${start}${rest}${next}`));
  });

  it.each([
    "GET /healthz HTTP/1.1\r\n\r\n",
    "GET /healthz HTTP/0.9\r\n\r\n",
    "GET /healthz HTTP/1.0\r\nHost: a\r\nHost: b\r\n\r\n",
    "\x16\x03\x01\x02\x00\x01\x00\r\n\r\n",
    "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "FETCH / HTTP/1.1\r\nHost: a\r\n\r\n",
    "get /healthz HTTP/1.1\r\nHost: a\r\n\r\n",
    "GET /heal thz HTTP/1.1\r\nHost: a\r\n\r\n",
  ])("refuses %j and closes", async (text) => {
    expectOneRefusal(await send(text + next));
  });

  // A client library would resolve dots and escape characters.
  it.each([
    `${provider}/%69ndex.json`,
    "/providers/registry.terraform.io/acme%2fdemo/x/index.json",
    "/providers/registry.terraform.io/%2e%2e/demo/index.json",
    "/providers/registry.terraform.io/acme/demo%00/index.json",
    `${provider}/1.2.3%2Bbuild.json`,
    `${provider}/%`,
    "/%",
    "//providers/registry.terraform.io/acme/demo/index.json",
    "/providers//acme/demo/index.json",
    `${provider}/./index.json`,
    `${provider}/../demo/index.json`,
    `${provider}/index.json/`,
    "/providers/",
    "/providers/registry.terraform.io\\acme/demo/x/index.json",
    `${provider}/index.json#fragment`,
    `${provider}/1.2.3.json#/../index.json`,
    "http://registry.terraform.io/acme/demo/index.json",
    "https://mirror/providers/registry.terraform.io/acme/demo/index.json",
    `${provider}/\xefndex.json`,
  ])("refuses the path %s as it was written, and closes", async (path) => {
    const request = start.replace("/healthz", () => path);
    expectOneRefusal(await send(`${request}\r\n${next}`));
  });

  it.each([
    // It does not read the body, and makes no tunnel.
    "POST /healthz HTTP/1.1\r\nHost: mirror\r\nContent-Length: 999999999\r\n\r\n",
    "CONNECT registry.terraform.io:443 HTTP/1.1\r\nHost: a\r\n\r\n",
  ])("has no other method, and closes: %j", async (text) => {
    const answer = await send(text + next);
    expectOneRefusal(answer, 405, "method-not-allowed");
    if (text.startsWith("POST"))
      expect(answer.headers.get("allow")).toBe("GET, HEAD");
  });

  it.each([
    ["the probe of a load balancer", "GET /readyz HTTP/1.0\r\n\r\n"],
    [
      "what asks for another protocol",
      `${start}Connection: upgrade, close\r\nUpgrade: h2c\r\n\r\n`,
    ],
    [
      "a length of zero, which is no body",
      `${start}Content-Length: 0\r\nConnection: close\r\n\r\n`,
    ],
  ])("answers %s in HTTP/1", async (_, text) => {
    const { status, headers, body } = await send(text);
    expect([status, headers.get("connection")]).toEqual([200, "close"]);
    expect(body).toMatch(/^\{"status":"(?:ok|ready)"\}$/);
  });
});
