import { describe, expect, it } from "vitest";
import { startWorld } from "../../scenes/world.ts";

const name = "registry.terraform.io/acme/demo/";
const base = `/providers/${name}`;
const warm = `${base}terraform-provider-demo_1.2.3_linux_amd64.zip`;
const cold = `${base}terraform-provider-demo_1.2.3_darwin_arm64.zip`;
const sums = `/v1/providers/${name}1.2.3/terraform-provider-demo_1.2.3_SHA256SUMS`;
const documents = [
  ...[`${base}index.json`, `${base}1.2.3.json`],
  ...["versions", "1.2.3/download/linux/amd64"].map(
    (rest) => `/v1/providers/${name}${rest}`,
  ),
];

const { registry, mirror } = await startWorld();
const release = await registry.publish({
  type: "demo",
  version: "1.2.3",
  platforms: ["linux_amd64", "darwin_arm64"],
  size: 200_000,
});
const { bytes: content, sha256 } = release.archive("linux_amd64");
await mirror.get(warm);

const get = (path: string, headers: Readonly<Record<string, string>> = {}) =>
  mirror.get(path, { headers });
const head = (path: string, headers: Readonly<Record<string, string>> = {}) =>
  mirror.get(path, { method: "HEAD", headers });

it.each(documents)(
  "%s is exactly application/json, and on HEAD the same without a body",
  async (document) => {
    const whole = await get(document);
    expect(whole.status).toBe(200);
    expect(whole.headers).toMatchObject({
      "content-type": "application/json",
      "content-length": String(whole.body.length),
    });
    const { status, headers, body } = await head(document);
    expect([status, body.length]).toEqual([200, 0]);
    for (const name of ["content-type", "content-length", "etag"] as const)
      expect(headers[name]).toBe(whole.headers[name]);
  },
);

it.each([...documents, sums, `${sums}.sig`, warm, cold])(
  "%s has a strong tag, and is not sent again to a client that has it",
  async (document) => {
    const tag = String((await head(document)).headers.etag);
    expect(tag).toMatch(/^"[\x21\x23-\x7e]+"$/);
    for (const held of [tag, `"other", ${tag}`, `W/${tag}`, "*"]) {
      const answer = await get(document, { "If-None-Match": held });
      expect({ held, status: answer.status }).toEqual({ held, status: 304 });
      expect(answer.body).toHaveLength(0);
      expect(answer.headers.etag).toBe(tag);
    }
    // What is not stored yet stays so for the test below.
    if (document === cold) return;
    const other = await get(document, { "If-None-Match": '"other"' });
    expect(other.status).toBe(200);
  },
);

it("HEAD of an archive says neither length nor ranges while it is not stored, and asks the origin for no archive", async () => {
  registry.requests.clear();
  const { status, headers } = await head(cold);
  expect(status).toBe(200);
  for (const name of ["content-length", "transfer-encoding", "accept-ranges"])
    expect(headers[name]).toBeUndefined();
  expect(registry.requests.count("archive")).toBe(0);
});

describe("an archive", () => {
  it("is whole, with its length and ranges, also on HEAD and on HEAD with a range", async () => {
    const whole = {
      "content-type": "application/zip",
      "content-length": String(content.length),
      "accept-ranges": "bytes",
      etag: `"${sha256}"`,
    };
    const { status, headers, body } = await get(warm);
    expect([status, body.equals(content)]).toEqual([200, true]);
    expect(headers).toMatchObject(whole);
    for (const asked of [{}, { Range: "bytes=0-9" }])
      expect(await head(warm, asked)).toMatchObject({
        ...{ status: 200, headers: whole },
      });
  });

  it.each<[string, number, number?, number?]>([
    ["bytes=0-0", 206, 0, 1],
    ["bytes=100-199", 206, 100, 200],
    ["bytes=200000-", 206, 200_000],
    ["bytes=-5", 206, content.length - 5],
    ["bytes=-99999999", 206],
    ["bytes=199990-99999999", 206, 199_990],
    ["bytes=0-1,5-6", 200],
    ["bytes=5-4", 200],
    ["bytes=-", 200],
    ["bytes 0-1", 200],
    ["items=0-1", 200],
    ["bytes=99999999999999999999-", 200],
    ["bytes=99999999-", 416],
    ["bytes=-0", 416],
  ])("for %s is sent with %i", async (range, wanted, start = 0, end) => {
    const answer = await get(warm, { Range: range });
    const { status, headers, body } = answer;
    const part = content.subarray(start, end);
    expect(status).toBe(wanted);
    expect(headers["content-range"]).toBe(
      {
        206: `bytes ${start}-${start + part.length - 1}/${content.length}`,
        416: `bytes */${content.length}`,
      }[wanted],
    );
    if (wanted === 416)
      expect(answer.json()).toMatchObject({ code: "range-not-satisfiable" });
    else expect(body.equals(part)).toBe(true);
  });

  it("is continued only for a client that has the start of the same one", async () => {
    const ask = (condition: string) =>
      get(warm, { Range: "bytes=9-", "If-Range": condition });
    const tag = `"${sha256}"`;
    expect((await ask(tag)).status).toBe(206);
    for (const other of [`"other"`, `W/${tag}`, new Date().toUTCString()]) {
      const { status, body } = await ask(other);
      expect({ other, status }).toEqual({ other, status: 200 });
      expect(body.equals(content)).toBe(true);
    }
  });
});
