import { describe, expect, it } from "vitest";
import { startMirror } from "../../running-mirror.ts";
import { exchange, type RawAnswer } from "../../scenes/raw-connection.ts";
import { startWorld } from "../../scenes/world.ts";

const name = "registry.terraform.io/acme/demo";
const provider = `/providers/${name}`;

const { registry, mirror } = await startWorld();
await registry.publish({ type: "demo", version: "1.2.3" });

/** As it is: a client library would tidy it. */
const send = (text: string) => exchange(mirror, text);

/** The form that every refusal has, of which there is one on a connection. */
function expectRefusal(answer: RawAnswer, outcome: string): void {
  const { headers, text } = answer;
  const body = JSON.parse(answer.body) as { readonly code: string };
  expect(`${answer.status} ${body.code}`).toBe(outcome);
  expect(body).toEqual({
    errors: [expect.stringMatching(/^\S.*\.$/)],
    remedy: expect.stringMatching(/^[a-z]/) as string,
    code: body.code,
    requestId: expect.stringMatching(/^[0-9a-f-]{36}$/) as string,
  });
  expect(headers.get("content-type")).toBe("application/json");
  expect(headers.get("cache-control")).toBe("no-store");
  expect(headers.get("etag")).toBeNull();
  expect(text.match(/HTTP\/1\.1 \d/g)).toHaveLength(1);
}

describe("what stands behind the status", () => {
  const asked = "/registry.example.com/acme/demo";
  const cause = "This mirror does not serve registry.example.com";

  it.each([
    [`/providers${asked}/1.2.3.json`, `${asked}/1.2.3`],
    [
      `/providers${asked}/terraform-provider-demo_1.2.3_linux_amd64.zip`,
      `${asked}/1.2.3`,
    ],
    [`/v1/providers${asked}/versions`, asked],
    [`/v1/modules${asked}/aws/1.2.3/download`, `${asked}/aws/1.2.3`],
  ])("is the cause and the page that tells more: %s", async (path, page) => {
    const { reason } = await mirror.get(path);
    expect(reason).toBe(`${cause}, see ${mirror.url}why${page}`);
  });

  it("is the cause alone where the page is not known", async () => {
    const { text } = await send(
      `GET /providers${asked}/index.json HTTP/1.1\r\nHost: mirror"<script>\r\nConnection: close\r\n\r\n`,
    );
    expect(text.split("\r\n", 1)).toEqual([`HTTP/1.1 451 ${cause}`]);
    const hostile =
      "/providers/registry.example.com/<script>/'demo'/index.json";
    expect((await mirror.get(hostile)).reason).not.toMatch(/see|script/);
  });

  it("takes a trusted proxy to add TLS", async () => {
    const listen = { port: 0, tls: "off", trustedProxies: ["127.0.0.1"] };
    const other = await startMirror({ config: { listen } });
    const { reason } = await other.get(`/providers${asked}/index.json`);
    expect(reason).toContain(", see https://127.0.0.1:");
  });
});

const host = "/providers/registry.terraform.io";
const refused: Readonly<Record<string, readonly string[]>> = {
  "451 origin-not-served": [
    "/providers/registry.example.com/a/b/index.json",
    "/providers/registry.terraform.io:8443/a/b/index.json",
  ],
  "404 not-found": [
    `${host}/acme/none/index.json`,
    `${provider}/9.9.9.json`,
    `${provider}/terraform-provider-demo_9.9.9_linux_amd64.zip`,
    `${provider}/terraform-provider-demo_1.2.3_plan9_mips.zip`,
  ],
  "400 malformed-address": [
    "/providers/Registry.Terraform.io/acme/demo/index.json",
    `${host}/acme/${"a".repeat(65)}/index.json`,
    `${provider}/1.2.json`,
    // By this `doctor` knows a mirror.
    "/providers/provender.invalid/doctor/doctor/none.json",
    `${provider}/terraform-provider-other_1.2.3_linux_amd64.zip`,
  ],
  "404 no-such-page": [
    ...["/providers", provider, "/healthz/x", "/HEALTHZ", "/favicon.ico"],
    ...["/nothing", "/v1/nothing.json", "/v2/x.zip", `${provider}/x.txt`],
  ],
  "414 uri-too-long": [`${provider}/index.json?${"x".repeat(2048)}`],
  // A client takes 404 below a wrong `url` for a provider that is not mirrored.
  "400 wrong-mirror-url": [
    ...["v1/", "v1/providers/", "browse/", "Providers/", ""].map(
      (base) => `/${base}${name}/index.json`,
    ),
    `/providers/registry.terraform.io/${name}/index.json`,
    `/${name}/1.0.0-rc1+5.json`,
    `/${name}/terraform-provider-demo_1.2.3_linux_amd64.zip`,
  ],
};

it.each(
  Object.entries(refused).flatMap(([outcome, paths]) =>
    paths.map((path) => [outcome, path] as const),
  ),
)("%s is the answer to %s, and to a HEAD of it", async (outcome, path) => {
  registry.requests.clear();
  const ask = (method: string) =>
    send(
      `${method} ${path} HTTP/1.1\r\nHost: mirror\r\nConnection: close\r\n\r\n`,
    );
  const answer = await ask("GET");
  expectRefusal(answer, outcome);
  const { body, text } = answer;
  if (outcome.endsWith("origin-not-served"))
    expect(body).toContain(path.split("/")[2]);
  if (outcome.endsWith("wrong-mirror-url"))
    for (const told of [body, text.split("\r\n", 1).join()])
      expect(told).toContain("https://mirror/providers/");
  const head = await ask("HEAD");
  expect([head.status, head.body]).toEqual([answer.status, ""]);
  if (!outcome.endsWith("not-found")) expect(registry.requests.count()).toBe(0);
});

const next = "GET /healthz HTTP/1.1\r\nHost: second\r\n\r\n";
const start = "GET /healthz HTTP/1.1\r\nHost: mirror\r\n";
const written = (path: string) =>
  `${start.replace("/healthz", () => path)}\r\n`;

const malformed: Readonly<Record<string, readonly string[]>> = {
  "a body": [
    `${start}Content-Length: 5\r\n\r\nhello`,
    `${start}Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n`,
    `${start}Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    `${start}Transfer-Encoding : chunked\r\n\r\n`,
    `${start}X-A: b\nTransfer-Encoding: chunked\r\n\r\n`,
  ],
  "an expectation": [
    `${start}Expect: 100-continue\r\nContent-Length: 5\r\n\r\nhello`,
    `${start}Expect: more\r\n\r\n`,
  ],
  "not one Host": [
    `${start}host: mirror\r\n\r\n`,
    "GET /healthz HTTP/1.1\r\n\r\n",
    "GET /healthz HTTP/1.0\r\nHost: a\r\nHost: b\r\n\r\n",
  ],
  "another protocol": [
    "\x16\x03\x01\x02\x00\x01\x00\r\n\r\n",
    "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    written("/heal thz"),
  ],
  "a path that can be read otherwise": [
    `${provider}/%69ndex.json`,
    "/%",
    "*",
    `/${provider}/index.json`,
    "/providers//acme/demo/index.json",
    `${provider}/./index.json`,
    `${provider}/../demo/index.json`,
    `${provider}/index.json/`,
    "/providers/registry.terraform.io\\acme/demo/x/index.json",
    `${provider}/1.2.3.json#/../index.json`,
    `${provider}/\xefndex.json`,
    `https://mirror${provider}/index.json`,
  ].map(written),
};

it.each(
  Object.entries(malformed).flatMap(([what, texts]) =>
    texts.map((text) => [what, text] as const),
  ),
)(
  "a request with %s is refused and ends its connection: %j",
  async (_, text) => {
    const answer = await send(text + next);
    expectRefusal(answer, "400 malformed-request");
    expect(answer.headers.get("connection")).toBe("close");
  },
);

it.each([
  // It does not read the body.
  "POST /healthz HTTP/1.1\r\nHost: mirror\r\nContent-Length: 999999999\r\n\r\n",
  `${start.replace("GET", "PROPFIND")}\r\n`,
])(
  "there is no other method, and those there are are named: %j",
  async (text) => {
    const answer = await send(text + next);
    expectRefusal(answer, "405 method-not-allowed");
    expect(answer.headers.get("connection")).toBe("close");
    expect(answer.headers.get("allow")).toBe("GET, HEAD");
  },
);

it("headers over 16 KiB are refused, and a URL of 2 KiB is not, its query included", async () => {
  const long = `${start}X-Long: ${"x".repeat(16 * 1024)}\r\n\r\n`;
  expectRefusal(await send(long), "431 malformed-request");
  const path = `${provider}/index.json?`.padEnd(2048, "x");
  expect((await mirror.get(path)).status).toBe(200);
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
])("%s is answered in HTTP/1", async (_, text) => {
  const { status, headers, body } = await send(text);
  expect([status, headers.get("connection")]).toEqual([200, "close"]);
  expect(body).toMatch(/^\{"status":"(?:ok|ready)"\}$/);
});
