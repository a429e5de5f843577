import { readdirSync, rmSync, statSync } from "node:fs";
import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { parseSha256 } from "../../../src/address/hash.ts";
import type { BlobStore } from "../../../src/store/blobs/blob-store.ts";
import { blobPath } from "../../../src/store/layout.ts";
import { makeLayout, openBlobs } from "../stores.ts";

const bytes = Buffer.from("an archive");
const sha256 = parseSha256(createHash("sha256").update(bytes).digest("hex"));

async function prepare() {
  const layout = await makeLayout();
  return { layout, blobs: openBlobs(layout) };
}

async function store(blobs: BlobStore): Promise<void> {
  const spool = await blobs.createSpool();
  await spool.append(bytes);
  expect(spool.digest()).toBe(sha256);
  await blobs.commit(spool, sha256);
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
    expect(await blob?.handle.readFile()).toEqual(bytes);
    await blob?.handle.close();
    expect(statSync(blobPath(layout, sha256)).mode & 0o777).toBe(0o600);
    expect(readdirSync(layout.staging)).toEqual([]);
  });

  it("lets a reader finish what is deleted meanwhile", async () => {
    const { blobs } = await prepare();
    await store(blobs);
    const blob = await blobs.open(sha256);
    await blobs.delete(sha256);
    expect(await blobs.open(sha256)).toBeUndefined();
    expect(await blob?.handle.readFile()).toEqual(bytes);
    await blob?.handle.close();
    await blobs.delete(sha256);
  });

  it("probes its folders", async () => {
    const { layout, blobs } = await prepare();
    await blobs.probe();
    rmSync(layout.staging, { recursive: true });
    await expect(blobs.probe()).rejects.toThrow(/ENOENT/);
  });
});
