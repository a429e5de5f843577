import { readdirSync, rmSync, statSync } from "node:fs";
import { hash } from "node:crypto";
import { expect, it } from "vitest";
import { parseSha256 } from "../../../src/address/hash.ts";
import type { BlobStore } from "../../../src/store/blobs/blob-store.ts";
import { blobPath } from "../../../src/store/layout.ts";
import { makeLayout, openBlobs } from "../stores.ts";

const digest = (bytes: Buffer) => parseSha256(hash("sha256", bytes));

async function store(blobs: BlobStore, content: Buffer): Promise<void> {
  const spool = await blobs.createSpool();
  await spool.append(content);
  expect(spool.digest()).toBe(digest(content));
  await blobs.commit(spool, digest(content));
  await spool.release();
}

it("the blob store has what was committed, also at once, under its digest, for its owner only", async () => {
  const layout = await makeLayout();
  const blobs = openBlobs(layout);
  const bytes = Buffer.alloc(300_000, "archive");
  const sha256 = digest(bytes);
  expect(await blobs.open(sha256)).toBeUndefined();
  expect(await blobs.size(sha256)).toBeUndefined();
  await Promise.all(
    Array.from({ length: 8 }, () => store(openBlobs(layout), bytes)),
  );
  expect(await blobs.size(sha256)).toBe(bytes.length);
  const blob = await blobs.open(sha256);
  expect(blob?.size).toBe(bytes.length);
  expect((await blob?.handle.readFile())?.equals(bytes)).toBe(true);
  await blob?.handle.close();
  expect(statSync(blobPath(layout, sha256)).mode & 0o777).toBe(0o600);
  expect(readdirSync(layout.staging)).toEqual([]);
  await store(blobs, Buffer.of());
  const listed = await Array.fromAsync(blobs.list());
  expect(listed.map((one) => one.sha256).toSorted()).toEqual(
    [sha256, digest(Buffer.of())].toSorted(),
  );
  await blobs.probe();
  rmSync(layout.staging, { recursive: true });
  await expect(blobs.probe()).rejects.toThrow(/ENOENT/);
});
