import { readdirSync, rmSync, statSync } from "node:fs";
import { hash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { parseSha256 } from "../../../src/address/hash.ts";
import type { BlobStore } from "../../../src/store/blobs/blob-store.ts";
import { blobPath } from "../../../src/store/layout.ts";
import { makeLayout, openBlobs } from "../stores.ts";

const digest = (bytes: Buffer) => parseSha256(hash("sha256", bytes));
const bytes = Buffer.alloc(300_000, "archive");
const sha256 = digest(bytes);

async function prepare() {
  const layout = await makeLayout();
  return { layout, blobs: openBlobs(layout) };
}

async function store(blobs: BlobStore, content = bytes): Promise<void> {
  const spool = await blobs.createSpool();
  await spool.append(content);
  expect(spool.digest()).toBe(digest(content));
  await blobs.commit(spool, digest(content));
  await spool.release();
}

describe("the blob store", () => {
  it("has what was committed, under its digest, for its owner only", async () => {
    const { layout, blobs } = await prepare();
    expect(await blobs.open(sha256)).toBeUndefined();
    expect(await blobs.size(sha256)).toBeUndefined();
    await store(blobs);
    expect(await blobs.size(sha256)).toBe(bytes.length);
    const blob = await blobs.open(sha256);
    expect(blob?.size).toBe(bytes.length);
    expect((await blob?.handle.readFile())?.equals(bytes)).toBe(true);
    await blob?.handle.close();
    expect(statSync(blobPath(layout, sha256)).mode & 0o777).toBe(0o600);
    expect(readdirSync(layout.staging)).toEqual([]);
  });

  it("has what it has when the same bytes come again, also many at once", async () => {
    const { layout, blobs } = await prepare();
    await Promise.all(
      Array.from({ length: 8 }, () => store(openBlobs(layout))),
    );
    const blob = await blobs.open(sha256);
    expect((await blob?.handle.readFile())?.equals(bytes)).toBe(true);
    await blob?.handle.close();
  });

  it("lists all, also an empty one", async () => {
    const { blobs } = await prepare();
    const all = ["", "a", "b"].map((text) => Buffer.from(text));
    for (const one of all) await store(blobs, one);
    const listed = await Array.fromAsync(blobs.list());
    expect(listed.map((one) => one.sha256).toSorted()).toEqual(
      all.map(digest).toSorted(),
    );
    expect(await blobs.size(digest(Buffer.alloc(0)))).toBe(0);
  });

  it("probes its folders", async () => {
    const { layout, blobs } = await prepare();
    await blobs.probe();
    rmSync(layout.staging, { recursive: true });
    await expect(blobs.probe()).rejects.toThrow(/ENOENT/);
  });
});
