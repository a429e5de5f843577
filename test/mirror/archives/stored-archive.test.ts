import { utimesSync, writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { failing } from "../../scenes/failing.ts";
import {
  type ByteRange,
  heldBack,
  readStored,
} from "../../../src/mirror/archives/download.ts";
import type { BlobStore } from "../../../src/store/blobs/blob-store.ts";
import { type StoredBlob } from "../../../src/store/blobs/blob-store.ts";
import { blobPath } from "../../../src/store/layout.ts";
import { makeLayout, openBlobs } from "../../store/stores.ts";
import { altered, randomArchive } from "./archives.ts";

const size = 1_000_000;
const readSize = () => 100_000;

async function prepare(length = size) {
  const layout = await makeLayout();
  const damaged: string[] = [];
  const blobs = openBlobs(layout, {
    onDamaged: (_, problem) => damaged.push(problem),
  });
  const { bytes, digest } = randomArchive(length);
  const spool = await blobs.createSpool();
  await spool.append(bytes);
  await blobs.commit(spool, digest);
  await spool.release();
  const path = blobPath(layout, digest);
  return { layout, blobs, bytes, digest, path, damaged };
}

/** Reads a stored archive; returns its bytes and how the read ended. */
async function take(blobs: BlobStore, blob: StoredBlob, range?: ByteRange) {
  const pieces: Uint8Array[] = [];
  try {
    for await (const piece of readStored(blobs, blob, range, readSize))
      pieces.push(Buffer.from(piece));
    return { got: Buffer.concat(pieces), error: undefined };
  } catch (error) {
    return { got: Buffer.concat(pieces), error };
  } finally {
    await blob.handle.close();
  }
}

async function openBlob(blobs: BlobStore, digest: StoredBlob["sha256"]) {
  const blob = await blobs.open(digest);
  if (blob === undefined) throw new Error("it was stored");
  return blob;
}

const ranges: readonly (ByteRange | undefined)[] = [
  undefined,
  { start: 0, end: 1 },
  { start: 100, end: 200_000 },
  { start: size - 10, end: undefined },
  { start: 0, end: size },
];

describe("a stored archive", () => {
  it.each([0, 1, heldBack, heldBack + 1, 100_000, size])(
    "of %i bytes is read whole and in ranges",
    async (length) => {
      const { blobs, bytes, digest } = await prepare(length);
      for (const range of ranges) {
        const { start = 0, end = length } = range ?? {};
        const { got, error } = await take(
          blobs,
          await openBlob(blobs, digest),
          range,
        );
        expect(error).toBeUndefined();
        expect(got.equals(bytes.subarray(start, end))).toBe(true);
      }
    },
  );

  it.each([0, 500_000, size - 1])(
    "with another byte at %i never ends, in whole or in a range, and is dropped",
    async (at) => {
      for (const range of ranges) {
        const { blobs, bytes, digest, path, damaged } = await prepare();
        writeFileSync(path, altered(bytes, at));
        const blob = await openBlob(blobs, digest);
        const { got, error } = await take(blobs, blob, range);
        expect(error).toEqual(failing("stored-archive-damaged"));
        const { start = 0 } = range ?? {};
        const most = Math.max(0, (range?.end ?? size) - start - heldBack);
        expect(got.length).toBeLessThanOrEqual(most);
        expect(await blobs.open(digest)).toBeUndefined();
        expect(damaged).toHaveLength(1);
      }
    },
  );

  it("that changes while it is read is found before its end", async () => {
    const { blobs, bytes, digest, path } = await prepare();
    // Clocks of file systems tick every few milliseconds.
    utimesSync(path, 0, 0);
    const blob = await openBlob(blobs, digest);
    await blobs.verify(blob);
    const body = readStored(blobs, blob, undefined, readSize);
    await body.next();
    // In place, since the next piece is being read.
    writeFileSync(path, altered(bytes, 10), { flag: "r+" });
    await expect(
      (async () => {
        for await (const piece of body) expect(piece.length).toBeGreaterThan(0);
      })(),
    ).rejects.toThrow(failing("stored-archive-damaged"));
    await blob.handle.close();
  });

  it("that is cut short while it is read is dropped", async () => {
    const { blobs, digest, path } = await prepare();
    const blob = await openBlob(blobs, digest);
    writeFileSync(path, "");
    const { error } = await take(blobs, blob);
    expect(error).toEqual(failing("stored-archive-unreadable"));
    expect(await blobs.open(digest)).toBeUndefined();
  });

  it("that was replaced by a good one meanwhile does not take it away", async () => {
    const { blobs, bytes, digest, path } = await prepare();
    writeFileSync(path, altered(bytes, 0));
    const old = await openBlob(blobs, digest);
    const spool = await blobs.createSpool();
    await spool.append(bytes);
    await blobs.commit(spool, digest);
    await spool.release();
    const { error } = await take(blobs, old);
    expect(error).toEqual(failing("stored-archive-damaged"));
    const { got } = await take(blobs, await openBlob(blobs, digest));
    expect(got.equals(bytes)).toBe(true);
  });

  it("is hashed once however many ask, and again only when it was written to", async () => {
    const { layout, bytes, digest, path } = await prepare();
    const blobs = openBlobs(layout);
    const opened = await Promise.all(
      Array.from({ length: 20 }, () => openBlob(blobs, digest)),
    );
    const [first] = opened;
    if (first === undefined) throw new Error("twenty were opened");
    const ended = Promise.allSettled(opened.map((blob) => blobs.verify(blob)));
    // The one that hashes leaves: another one goes on.
    await first.handle.close();
    const ends = await ended;
    expect(ends.slice(1).every(({ status }) => status === "fulfilled")).toBe(
      true,
    );
    for (const blob of opened.slice(1)) await blob.handle.close();
    writeFileSync(path, bytes);
    const again = await openBlob(blobs, digest);
    await blobs.verify(again);
    await again.handle.close();
  });
});
