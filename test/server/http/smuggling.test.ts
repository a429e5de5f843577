import { describe, expect, it } from "vitest";
import { startMirror } from "../../running-mirror.ts";
import { exchange, type RawAnswer } from "../../scenes/raw-connection.ts";

const secure = await startMirror();
const plain = await startMirror({
  config: { listen: { port: 0, tls: "off" } },
});

/** One answer in the contract's form, and then the end of the connection. */
function expectOneRefusal(answer: RawAnswer, status = 400): void {
  const { headers, body, text } = answer;
  expect(answer.status).toBe(status);
  expect(headers.get("content-type")).toBe("application/json");
  expect(headers.get("cache-control")).toBe("no-store");
  expect(headers.get("connection")).toBe("close");
  expect(text.match(/HTTP\/1\.1 \d/g)).toHaveLength(1);
  expect(JSON.parse(body)).toMatchObject({
    errors: [expect.stringMatching(/\.$/)],
    code: expect.any(String) as string,
    requestId: expect.any(String) as string,
  });
}

const next = "GET /healthz HTTP/1.1\r\nHost: second\r\n\r\n";

describe.each(["TLS", "no TLS"])("over %s", (kind) => {
  const send = (text: string) =>
    exchange(kind === "TLS" ? secure : plain, text);

  it.each(
    Object.entries({
      "a body with a length": "Content-Length: 5\r\n\r\nhello",
      "a chunked body":
        "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
      "both a length and chunks":
        "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
      "two lengths": "Content-Length: 0\r\nContent-Length: 5\r\n\r\nhello",
      "a list of lengths": "Content-Length: 5, 5\r\n\r\nhello",
      "a signed length": "Content-Length: +5\r\n\r\nhello",
      "a negative length": "Content-Length: -1\r\n\r\n",
      "a hexadecimal length": "Content-Length: 0x5\r\n\r\nhello",
      "an empty length": "Content-Length: \r\n\r\n",
      "a coding that is not known": "Transfer-Encoding: xchunked\r\n\r\n",
      "chunks in disguise": "Transfer-Encoding: chunked, identity\r\n\r\n",
      "chunks after a tab": "Transfer-Encoding:\tchunked\r\n\r\n0\r\n\r\n",
      "a space before the colon": "Transfer-Encoding : chunked\r\n\r\n",
      "two codings":
        "Transfer-Encoding: identity\r\nTransfer-Encoding: chunked\r\n\r\n",
      "a folded header": "X-A: b\r\n\tTransfer-Encoding: chunked\r\n\r\n",
      "a bare line feed": "X-A: b\nTransfer-Encoding: chunked\r\n\r\n",
      "a null byte": "X-A: \0\r\n\r\n",
      "two Host headers": "Host: other\r\n\r\n",
      "the same Host header twice": "host: mirror\r\n\r\n",
      "an expectation of a body":
        "Expect: 100-continue\r\nContent-Length: 5\r\n\r\nhello",
    }),
  )("refuses %s and closes", async (_, rest) => {
    const start = "GET /healthz HTTP/1.1\r\nHost: mirror\r\n";
    expectOneRefusal(await send(`${start}${rest}${next}`));
  });

  it.each(
    Object.entries({
      "no Host header": `GET /healthz HTTP/1.1\r\n\r\n${next}`,
      "no Host header of HTTP/0.9": `GET /healthz HTTP/0.9\r\n\r\n`,
      "two Host headers of HTTP/1.0": `GET /healthz HTTP/1.0\r\nHost: a\r\nHost: b\r\n\r\n`,
      "a protocol that is not HTTP": "\x16\x03\x01\x02\x00\x01\x00\r\n\r\n",
      "a preface of HTTP/2": "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
      "a method that is not known": `FETCH / HTTP/1.1\r\nHost: a\r\n\r\n${next}`,
      "a lower-case method": `get /healthz HTTP/1.1\r\nHost: a\r\n\r\n${next}`,
      "a space in the path": `GET /heal thz HTTP/1.1\r\nHost: a\r\n\r\n${next}`,
    }),
  )("refuses %s and closes", async (_, text) => {
    expectOneRefusal(await send(text));
  });

  it("closes after a method with a body, which it does not read", async () => {
    const start = "POST /healthz HTTP/1.1\r\nHost: mirror\r\n";
    const answer = await send(
      `${start}Content-Length: 999999999\r\n\r\n${next}`,
    );
    expectOneRefusal(answer, 405);
    expect(answer.headers.get("allow")).toBe("GET, HEAD");
  });

  it("refuses an expectation that it does not know", async () => {
    const answer = await send(
      `GET /healthz HTTP/1.1\r\nHost: a\r\nExpect: more\r\n\r\n${next}`,
    );
    expectOneRefusal(answer);
  });

  it("answers the probe of a load balancer, which is HTTP/1.0 without a Host header", async () => {
    for (const path of ["/healthz", "/readyz"]) {
      const { status, headers } = await send(`GET ${path} HTTP/1.0\r\n\r\n`);
      expect(status).toBe(200);
      expect(headers.get("connection")).toBe("close");
    }
  });

  it("makes no tunnel", async () => {
    const answer = await send(
      `CONNECT registry.terraform.io:443 HTTP/1.1\r\nHost: a\r\n\r\n${next}`,
    );
    expectOneRefusal(answer, 405);
  });

  it("does not change to another protocol", async () => {
    const { status, text } = await send(
      "GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: upgrade, close\r\nUpgrade: h2c\r\n\r\n",
    );
    expect(status).toBe(200);
    expect(text).toContain('{"status":"ok"}');
  });

  it("takes a length of zero for no body", async () => {
    const { status } = await send(
      "GET /healthz HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
    );
    expect(status).toBe(200);
  });
});
