import { describe, expect, it } from "vitest";
import { startMirror, type Answer } from "../../running-mirror.ts";
import { exchange } from "../../scenes/raw-connection.ts";
import { startWorld } from "../../scenes/world.ts";

const provider = "/providers/registry.terraform.io/acme/demo";

const { registry, mirror } = await startWorld();
await registry.publish({ type: "demo", version: "1.2.3" });

/** The form that every refusal has. */
function expectRefusal(answer: Answer, status: number, code: string): void {
  expect(answer.status).toBe(status);
  expect(answer.headers["content-type"]).toBe("application/json");
  expect(answer.headers["cache-control"]).toBe("no-store");
  expect(answer.headers.etag).toBeUndefined();
  const document = answer.json() as { errors: string[] };
  expect(document).toEqual({
    errors: [expect.stringMatching(/^\S.*\.$/)],
    remedy: expect.stringMatching(/^[a-z]/) as string,
    code,
    requestId: expect.stringMatching(/^[0-9a-f-]{36}$/) as string,
  });
}

describe("what stands behind the status", () => {
  const asked = "/registry.example.com/acme/demo";
  const cause = "This mirror does not serve registry.example.com";

  it.each([
    [`/providers${asked}/index.json`, asked],
    [`/providers${asked}/1.2.3.json`, `${asked}/1.2.3`],
    [
      `/providers${asked}/terraform-provider-demo_1.2.3_linux_amd64.zip`,
      `${asked}/1.2.3`,
    ],
    [`/v1/providers${asked}/versions`, asked],
    [`/v1/providers${asked}/1.2.3/download/linux/amd64`, `${asked}/1.2.3`],
    [`/v1/modules${asked}/aws/versions`, `${asked}/aws`],
    [`/v1/modules${asked}/aws/1.2.3/download`, `${asked}/aws/1.2.3`],
  ])("is the cause and the page that tells more: %s", async (path, page) => {
    const { reason } = await mirror.get(path);
    expect(reason).toBe(`${cause}, see ${mirror.url}why${page}`);
  });

  it("is the cause alone where the page is not known", async () => {
    const { text } = await exchange(
      mirror,
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
    await other.stop();
    expect(reason).toContain(", see https://127.0.0.1:");
  });
});

const host = "/providers/registry.terraform.io";
const refused: Readonly<Record<string, readonly string[]>> = {
  "451 origin-not-served": [
    "/providers/registry.example.com/a/b/index.json",
    "/providers/xn--registry-9ya.example/a/b/index.json",
    "/providers/registry.terraform.io:8443/a/b/index.json",
    "/providers/10.0.0.1/a/b/index.json",
  ],
  "404 not-found": [
    `${host}/acme/none/index.json`,
    `${host}/no/ne/1.0.0.json`,
    `${provider}/9.9.9.json`,
    `${provider}/terraform-provider-demo_9.9.9_linux_amd64.zip`,
    `${provider}/terraform-provider-demo_1.2.3_plan9_mips.zip`,
  ],
  "400 malformed-address": [
    "/providers/Registry.Terraform.io/acme/demo/index.json",
    "/providers/registry.example.com/Acme/demo/index.json",
    `${host}/acme/Demo/index.json`,
    `${host}/acme/${"a".repeat(65)}/index.json`,
    `${provider}/1.2.json`,
    `${provider}/INDEX.json`,
    `${provider}/terraform-provider-other_1.2.3_linux_amd64.zip`,
    `${provider}/terraform-provider-demo_1.2.3_${"a".repeat(33)}_amd64.zip`,
    `${provider}/SHA256SUMS`,
  ],
  "404 no-such-page": [
    "/providers",
    host,
    provider,
    "/healthz/x",
    "/HEALTHZ",
    "/favicon.ico",
  ],
  "414 uri-too-long": [`${provider}/index.json?${"x".repeat(2048)}`],
};

it.each(
  Object.entries(refused).flatMap(([outcome, paths]) =>
    paths.map((path) => [outcome, path] as const),
  ),
)("%s is the answer to %s, and to a HEAD of it", async (outcome, path) => {
  const [status = "", code = ""] = outcome.split(" ");
  registry.requests.clear();
  const answer = await mirror.get(path);
  expectRefusal(answer, Number(status), code);
  if (code === "origin-not-served")
    expect(answer.body.toString()).toContain(path.split("/")[2]);
  const head = await mirror.get(path, { method: "HEAD" });
  expect([head.status, head.body.length]).toEqual([Number(status), 0]);
  if (code !== "not-found") expect(registry.requests.count()).toBe(0);
});

it.each(["POST", "OPTIONS", "PROPFIND"])(
  "the method %s is refused with those that are served",
  async (method) => {
    for (const path of [`${provider}/index.json`, "/healthz", "/nothing"]) {
      const answer = await mirror.get(path, { method });
      expectRefusal(answer, 405, "method-not-allowed");
      expect(answer.headers.allow).toBe("GET, HEAD");
    }
  },
);

describe("a request of many bytes", () => {
  it("is served with a URL of 2 KiB, the query included", async () => {
    const path = `${provider}/index.json?`;
    const answer = await mirror.get(path.padEnd(2048, "x"));
    expect(answer.status).toBe(200);
  });

  it("is refused for headers over 16 KiB", async () => {
    const headers = { "X-Long": "x".repeat(16 * 1024) };
    const answer = await mirror.get("/healthz", { headers });
    expectRefusal(answer, 431, "malformed-request");
  });
});

describe("a network mirror's document below another path", () => {
  const name = "registry.terraform.io/acme/demo";
  const bases = ["v1/", "v1/providers/", "v1/modules/", "provider/"];
  const others = ["mirror/v1/", "browse/", "Providers/"];
  const doubled = ["providers/", "registry/"].map(
    (base) => `${base}registry.terraform.io/`,
  );

  it.each([
    ...[...bases, ...others, ...doubled].map((base) => [base, "index.json"]),
    ...["index.json", "1.2.3.json", "1.0.0-rc1+5.json"].map((one) => ["", one]),
    ["", "terraform-provider-demo_1.2.3_linux_amd64.zip"],
  ])(
    "%j, %s is answered with the right url, and never with 404",
    async (base, file) => {
      const answer = await mirror.get(`${base}${name}/${file}`);
      const right = `${mirror.url}providers/`;
      expectRefusal(answer, 400, "wrong-mirror-url");
      expect(answer.reason).toContain(`see ${right}`);
      expect(answer.body.toString()).toContain(right);
    },
  );

  it("is there below the right one, and other paths are not found", async () => {
    for (const file of ["index.json", "1.2.3.json"])
      expect((await mirror.get(`providers/${name}/${file}`)).status).toBe(200);
    for (const path of ["nothing", "v1/nothing.json", "v2/x.zip"])
      expect((await mirror.get(path)).status).toBe(404);
  });
});
