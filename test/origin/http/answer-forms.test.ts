import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { createServer } from "node:tls";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { expect, it } from "vitest";
import * as faults from "../../fakes/faults.ts";
import { failing } from "../../scenes/failing.ts";
import { startHome, makeClient, never, readAll } from "../clients.ts";

const { authority, home, clientOf, urlOf } = await startHome({
  "/document": '{"a":1}',
  "/archive": Buffer.from("PK and more"),
});

const askJson = () => clientOf().fetchJson(urlOf("/document"), never);
const askDocument = (most = 10_000, path = "/document") =>
  clientOf().fetchDocument(urlOf(path), most, never);

async function askArchive(): Promise<Buffer> {
  const { body } = await clientOf().openArchive(urlOf("/archive"), never);
  return Buffer.from(await readAll(body));
}

const encoded = (name: string, bytes: Uint8Array) =>
  faults.all(faults.body(bytes), faults.header("Content-Encoding", name));

it.each(["application/octet-stream", "text/html", ""])(
  "JSON is read from a registry of plain files as %j",
  async (type) => {
    home.script("other", faults.mediaType(type));
    expect((await askJson()).value).toEqual({ a: 1 });
  },
);

it("a page is no document and no archive, and no JSON in gzip either", async () => {
  const type = faults.mediaType("text/html");
  for (const page of [
    "<html>Sign in</html>",
    "\uFEFF<!doctype html>",
    `${"\r\n".repeat(1_000)}<html>`,
  ]) {
    home.script("other", faults.all(faults.body(page), type));
    for (const ask of [askJson, askDocument, askArchive])
      await expect(ask(), page).rejects.toThrow("a page for people");
  }
  home.script("other", faults.all(encoded("gzip", gzipSync("<html>")), type));
  await expect(askJson()).rejects.toThrow("a page for people");
});

it("an archive or a signature that is sent as a page is left to its digest", async () => {
  home.script("other", faults.mediaType("text/html; charset=utf-8"));
  expect((await askArchive()).toString()).toBe("PK and more");
  const { bytes } = await askDocument(100, "/archive");
  expect(Buffer.from(bytes).toString()).toBe("PK and more");
});

it("a document that came in gzip unasked is unpacked, up to its limit", async () => {
  for (const name of ["X-GZIP", "aws-chunked, gzip"]) {
    home.script("other", encoded(name, gzipSync('{"b":2}')));
    expect((await askJson()).value).toEqual({ b: 2 });
  }
  home.script("other", encoded("gzip", gzipSync(Buffer.alloc(50_000_000))));
  await expect(askDocument(60_000)).rejects.toThrow("larger than 60000 bytes");
});

it.each(["AWS-Chunked, identity", "utf-8", "gzip", "br", "deflate, gzip"])(
  "what says that its encoding is %s, and is as it was, is taken so",
  async (name) => {
    home.script("other", faults.header("Content-Encoding", name));
    expect((await askJson()).value).toEqual({ a: 1 });
    expect((await askArchive()).toString()).toBe("PK and more");
  },
);

it("an archive that is gzip is no coding under its other name", async () => {
  const tar = gzipSync("a tar");
  home.script("other", encoded("x-gzip", tar));
  expect(await askArchive()).toEqual(tar);
});

it.each([
  ["document", "gzip, gzip", gzipSync(gzipSync("{}"))],
  ["document", "gzip", gzipSync("{}").subarray(0, -9)],
  ["document", "compress", Buffer.from([0x1f, 0x9d, 0x90])],
  ["archive", "gzip", gzipSync("PK")],
  ["archive", "br", brotliCompressSync("PK")],
])("of a %s %s is refused with its name", async (kind, name, bytes) => {
  home.script("other", encoded(name, bytes));
  const asked = kind === "archive" ? askArchive() : askJson();
  await expect(asked).rejects.toThrow(
    `content encoding ${name}, expected none`,
  );
});

it("headers of 60 KiB are read, and more are refused for what they are", async () => {
  const policy = "Content-Security-Policy";
  home.script("other", faults.header(policy, "x".repeat(60_000)));
  expect((await askJson()).value).toEqual({ a: 1 });
  home.script("other", faults.header(policy, "x".repeat(70_000)));
  await expect(askJson()).rejects.toThrow(
    /unusable answer \(its headers are larger than 64 KiB\): try again/,
  );
});

it.each([
  [
    "Content-Length: 7\r\nTransfer-Encoding: chunked\r\n\r\n7\r\n",
    "its Content-Length contradicts its body (RFC 9112, 6.3)",
  ],
  ["A b\x01: c\r\n\r\n", "Invalid header token"],
])(
  "what is no safe HTTP is refused for what it is: %j",
  async (head, reason) => {
    const { certificate, key } = await authority.issue(["127.0.0.1"]);
    const server = createServer({ cert: certificate, key }, (socket) => {
      socket.on("error", () => undefined);
      socket.once("data", () =>
        socket.end(`HTTP/1.1 200 OK\r\n${head}{"a":1}\r\n0\r\n\r\n`),
      );
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const url = `https://127.0.0.1:${port}/`;
    const client = makeClient(url, authority.caPem);
    const asked = client.fetchJson(new URL(url), never);
    await expect(asked).rejects.toThrow(failing("origin-answer"));
    await expect(asked).rejects.toThrow(reason);
    await client.close();
    server.close();
  },
);
