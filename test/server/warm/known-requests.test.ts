import { expect, it } from "vitest";
import { KnownRequests } from "../../../src/server/warm/known-requests.ts";

const plain = "GET /a HTTP/1.1\r\nHost: a\r\nUser-Agent: b\r\n\r\n";
const withLine = (line: string) => plain.replace("Host", `${line}\r\nHost`);

it.each([
  ["plain", plain],
  ["kept open", withLine("Connection: Keep-Alive")],
  ["with spaces", plain.replace("Host: a", "Host:   a ")],
  ["with a query", plain.replace("/a", "/a?b=c")],
])("knows a request that is %s by its bytes", async (_, bytes) => {
  const requests = new KnownRequests(100);
  expect(requests.find(bytes)).toBeUndefined();
  const known = await requests.learn(bytes);
  expect(known).toMatchObject({ headers: { host: "a", "user-agent": "b" } });
  expect(known?.url).toBe(/ (\S+)/.exec(bytes)?.[1]);
  expect(requests.find(bytes)).toBe(known);
  expect(requests.find(`${bytes}\r\n`)).toBeUndefined();
});

it.each([
  ["of another method", plain.replace("GET", "HEAD")],
  ["of an older version", plain.replace("1.1", "1.0")],
  ["that ends the connection", withLine("Connection: close")],
  ["that upgrades", withLine("Connection: upgrade\r\nUpgrade: h2c")],
  ["that names an upgrade", withLine("Upgrade: h2c")],
  ["with a length", withLine("Content-Length: 0")],
  ["with chunks", withLine("Transfer-Encoding: chunked")],
  ["with an expectation", withLine("Expect: 100-continue")],
  ["without a host", plain.replace("Host: a\r\n", "")],
  ["with two hosts", withLine("Host: b")],
  ["with an escaped path", plain.replace("/a", "/%61")],
  ["with a long URL", plain.replace("/a", `/${"a".repeat(100)}`)],
  ["with a long head", withLine(`X-Long: ${"a".repeat(2_048)}`)],
  ["in lines that end otherwise", plain.replaceAll("\r\n", "\n")],
  ["and another", plain + plain],
  ["and a part of another", plain + plain.slice(0, 20)],
  ["without its end", plain.slice(0, -2)],
  ["that is no HTTP", "GET GET GET\r\n\r\n"],
  ["that is empty", ""],
])("never knows one %s", async (_, bytes) => {
  const requests = new KnownRequests(100);
  expect(await requests.learn(bytes)).toBeUndefined();
  expect(requests.find(bytes)).toBeUndefined();
});
