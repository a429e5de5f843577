import { describe, expect, it } from "vitest";
import { startWorld } from "../../scenes/world.ts";

const name = "registry.terraform.io/acme/demo/";
const base = `/providers/${name}`;
const warm = `${base}terraform-provider-demo_1.2.3_linux_amd64.zip`;
const cold = `${base}terraform-provider-demo_1.2.3_darwin_arm64.zip`;
const registryBase = `/v1/providers/${name}`;
const sums = `${registryBase}1.2.3/terraform-provider-demo_1.2.3_SHA256SUMS`;
const documents = [
  ...[`${base}index.json`, `${base}1.2.3.json`, `${registryBase}versions`],
  `${registryBase}1.2.3/download/linux/amd64`,
];

const { registry, mirror } = await startWorld();
const release = await registry.publish({
  type: "demo",
  version: "1.2.3",
  platforms: ["linux_amd64", "darwin_arm64"],
  size: 200_000,
});
const content = release.archive("linux_amd64").bytes;
await mirror.get(warm);

function get(document: string, headers: Readonly<Record<string, string>> = {}) {
  return mirror.get(document, { headers });
}

function head(document: string) {
  return mirror.get(document, { method: "HEAD" });
}

async function tagOf(document: string): Promise<string> {
  const { headers } = await head(document);
  return headers.etag ?? "";
}

it.each(documents)(
  "%s is exactly application/json, and on HEAD the same without a body",
  async (document) => {
    const whole = await get(document);
    expect([whole.status, whole.headers["content-type"]]).toEqual([
      ...[200, "application/json"],
    ]);
    const { status, headers, body } = await head(document);
    expect([status, body.length]).toEqual([200, 0]);
    for (const name of ["content-type", "content-length", "etag"] as const)
      expect(headers[name]).toBe(whole.headers[name]);
    expect(headers["content-length"]).toBe(String(whole.body.length));
  },
);

it.each([...documents, sums, `${sums}.sig`, warm, cold])(
  "%s has a strong tag, and is not sent again to a client that has it",
  async (document) => {
    const tag = await tagOf(document);
    expect(tag).toMatch(/^"[\x21\x23-\x7e]+"$/);
    for (const held of [tag, `"other", ${tag}`, `W/${tag}`, "*"]) {
      const answer = await get(document, { "If-None-Match": held });
      expect({ held, status: answer.status }).toEqual({ held, status: 304 });
      expect(answer.body).toHaveLength(0);
      expect(answer.headers.etag).toBe(tag);
    }
    // What is not stored yet stays so for the tests below.
    if (document === cold) return;
    const other = await get(document, { "If-None-Match": '"other"' });
    expect(other.status).toBe(200);
  },
);

it("HEAD of an archive says neither length nor ranges while it is not stored, and asks the origin for no archive", async () => {
  registry.requests.clear();
  const { status, headers } = await head(cold);
  expect(status).toBe(200);
  expect(headers["content-length"]).toBeUndefined();
  expect(headers["transfer-encoding"]).toBeUndefined();
  expect(headers["accept-ranges"]).toBeUndefined();
  expect(registry.requests.count("archive")).toBe(0);
});

describe("an archive", () => {
  it("is whole, with its length and ranges, also on HEAD and on HEAD with a range", async () => {
    const { status, headers, body } = await get(warm);
    expect(status).toBe(200);
    expect(body.equals(content)).toBe(true);
    const whole = {
      "content-length": String(content.length),
      "accept-ranges": "bytes",
      etag: `"${release.archive("linux_amd64").sha256}"`,
    };
    expect(headers).toMatchObject({
      ...{ ...whole, "content-type": "application/zip" },
    });
    for (const headers of [{}, { Range: "bytes=0-9" }]) {
      const told = await mirror.get(warm, { method: "HEAD", headers });
      expect(told).toMatchObject({ status: 200, headers: whole });
    }
  });

  it.each([
    ["bytes=0-0", 0, 1],
    ["bytes=100-199", 100, 200],
    ["bytes=200000-", 200_000, Infinity],
    ["bytes=-5", -5, Infinity],
    ["bytes=-99999999", 0, Infinity],
    ["bytes=199990-99999999", 199_990, Infinity],
  ])("is sent in part for %s", async (range, start, end) => {
    const part = content.subarray(start, end);
    const first = start < 0 ? content.length + start : start;
    const { status, headers, body } = await get(warm, { Range: range });
    expect(status).toBe(206);
    expect(body.equals(part)).toBe(true);
    expect(headers["content-length"]).toBe(String(part.length));
    expect(headers["content-range"]).toBe(
      `bytes ${first}-${first + part.length - 1}/${content.length}`,
    );
  });

  it.each(["bytes=99999999-", "bytes=99999999-999999999", "bytes=-0"])(
    "has no part %s",
    async (range) => {
      const answer = await get(warm, { Range: range });
      expect(answer.status).toBe(416);
      expect(answer.headers["content-range"]).toBe(`bytes */${content.length}`);
      expect(answer.json()).toMatchObject({ code: "range-not-satisfiable" });
    },
  );

  it.each([
    "bytes=0-1,5-6",
    "bytes=5-4",
    "bytes=-",
    "bytes=a-b",
    "bytes 0-1",
    "items=0-1",
    "bytes=99999999999999999999-",
  ])("is sent whole for %s", async (range) => {
    const { status, headers, body } = await get(warm, { Range: range });
    expect(status).toBe(200);
    expect(headers["content-range"]).toBeUndefined();
    expect(body.equals(content)).toBe(true);
  });

  it("is continued only for a client that has the start of the same one", async () => {
    const tag = await tagOf(warm);
    const ask = (condition: string) =>
      get(warm, { Range: "bytes=9-", "If-Range": condition });
    expect((await ask(tag)).status).toBe(206);
    for (const other of [`"other"`, `W/${tag}`, new Date().toUTCString()]) {
      const { status, body } = await ask(other);
      expect({ other, status }).toEqual({ other, status: 200 });
      expect(body.equals(content)).toBe(true);
    }
  });
});
