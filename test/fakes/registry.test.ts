import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { createAuthority, type Authority } from "./authority.ts";
import { fetchOnce } from "./fetching.ts";
import { startRegistry, type Registry } from "./registry.ts";
import type { ReleaseArchive } from "./release.ts";

let authority: Authority;
let registry: Registry;
let archive: ReleaseArchive;
let archiveUrl: string;

beforeAll(async () => {
  authority = await createAuthority();
  registry = await startRegistry({ authority });
  const release = await registry.publish({ version: "1.0.0", size: 300_000 });
  archive = release.archive("linux_amd64");
  const document = await packageDocument();
  archiveUrl = String(document.download_url);
});

afterAll(() => registry.stop());

beforeEach(() => {
  registry.heal();
  registry.requests.clear();
});

function get(url: string, headers: Record<string, string> = {}) {
  return fetchOnce(url, { ca: authority.caPem, headers });
}

async function packageDocument(version = "1.0.0") {
  const url = `${registry.providersUrl}acme/widget/${version}/download/linux/amd64`;
  const { body } = await get(url);
  return JSON.parse(body.toString()) as Record<string, unknown>;
}

it("serves a release, and logs what was asked for", async () => {
  const { body, headers } = await get(archiveUrl, { "X-Asked-By": "me" });

  expect(body.equals(archive.bytes)).toBe(true);
  expect(headers.etag).toBe(`"${archive.sha256}"`);
  const [logged] = registry.requests.list("archive");
  expect(logged?.headers["x-asked-by"]).toBe("me");
  expect(await logged?.ended).toBe("complete");
  expect(logged?.bodyBytes).toBe(archive.bytes.length);
  expect(registry.requests.count()).toBe(1);
});

it("answers HEAD with the length and no body", async () => {
  const { status, headers, body } = await fetchOnce(archiveUrl, {
    ca: authority.caPem,
    method: "HEAD",
  });

  expect(status).toBe(200);
  expect(headers["content-length"]).toBe(String(archive.bytes.length));
  expect(body.length).toBe(0);
});

it.each([
  ["bytes=10-19", 10, 20],
  ["bytes=299000-", 299_000, undefined],
  ["bytes=-7", -7, undefined],
])("serves the range %s", async (range, start, end) => {
  const { status, body } = await get(archiveUrl, {
    Range: range,
    "If-Range": `"${archive.sha256}"`,
  });

  expect(status).toBe(206);
  expect(body.equals(archive.bytes.subarray(start, end))).toBe(true);
});

it("serves everything when If-Range names another archive", async () => {
  const { status } = await get(archiveUrl, {
    Range: "bytes=1-",
    "If-Range": '"x"',
  });

  expect(status).toBe(200);
});

it("answers 416 to a range beyond the end", async () => {
  const { status, headers } = await get(archiveUrl, { Range: "bytes=400000-" });

  expect(status).toBe(416);
  expect(headers["content-range"]).toBe(`bytes */${archive.bytes.length}`);
});

it("knows nothing of ranges when they are switched off", async () => {
  registry.ranges = false;
  const { status, headers } = await get(archiveUrl, { Range: "bytes=1-" });
  registry.ranges = true;

  expect(status).toBe(200);
  expect(headers["accept-ranges"]).toBeUndefined();
});

it("lists releases as their options say", async () => {
  const made = await registry.publish({
    version: "2.0.0",
    signature: "missing",
    signingKeys: [],
    packages: true,
    listPlatforms: false,
    protocols: ["6.0"],
  });
  const document = await packageDocument("2.0.0");
  const { status } = await get(String(document.shasums_signature_url));
  const versions = await get(`${registry.providersUrl}acme/widget/versions`);
  registry.withdraw(made);
  const { sha256, h1, bytes } = made.archive("linux_amd64");

  expect(document.signing_keys).toEqual({ gpg_public_keys: [] });
  expect(document.packages).toEqual({
    linux_amd64: { hashes: [`zh:${sha256}`, h1], package_size: bytes.length },
  });
  expect(status).toBe(404);
  expect(JSON.parse(versions.body.toString())).toMatchObject({
    versions: [
      { version: "1.0.0", platforms: [{ os: "linux", arch: "amd64" }] },
      { version: "2.0.0", protocols: ["6.0"] },
    ],
  });
});

it("does not know a release that was withdrawn", async () => {
  const gone = await registry.publish({ version: "3.0.0" });
  const { download_url } = await packageDocument("3.0.0");
  registry.withdraw(gone);

  expect(await packageDocument("3.0.0")).toEqual({ errors: ["Not Found"] });
  expect((await get(String(download_url))).status).toBe(404);
});

it("publishes a version again with other bytes", async () => {
  const first = await registry.publish({ version: "4.0.0" });
  const second = await registry.republish(first);
  const { shasum } = await packageDocument("4.0.0");
  registry.withdraw(second);

  expect(shasum).toBe(second.archive("linux_amd64").sha256);
  expect(shasum).not.toBe(first.archive("linux_amd64").sha256);
});

it("leaves the files of a release to another server", async () => {
  const files = await startRegistry({ authority });
  const made = await registry.publish({ version: "5.0.0" }, files);
  const { download_url } = await packageDocument("5.0.0");
  const { body } = await get(String(download_url));
  registry.withdraw(made);
  await files.stop();

  expect(String(download_url)).toContain(files.url);
  expect(body.equals(made.archive("linux_amd64").bytes)).toBe(true);
  expect(registry.requests.count("archive")).toBe(0);
});
