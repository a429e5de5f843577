import { utimesSync, writeFileSync } from "node:fs";
import { expect, it } from "vitest";
import {
  type ByteRange,
  heldBack,
  readStored,
} from "../../../src/mirror/archives/download.ts";
import { blobPath } from "../../../src/store/layout.ts";
import { failing } from "../../scenes/failing.ts";
import { makeLayout, openBlobs } from "../../store/stores.ts";
import { altered, randomArchive } from "./archives.ts";

const size = 1_000_000;
const readers = () => 100_000;

/** An archive in a store. */
async function prepare(length = size) {
  const layout = await makeLayout();
  const damaged: string[] = [];
  const blobs = openBlobs(layout);
  blobs.listen({ onDamaged: (_, problem) => damaged.push(problem) });
  const { bytes, digest } = randomArchive(length);
  const store = async () => {
    const spool = await blobs.createSpool();
    await spool.append(bytes);
    await blobs.commit(spool, digest);
    await spool.release();
  };
  await store();
  const open = async (from = blobs) => {
    const blob = await from.open(digest);
    if (blob === undefined) throw new Error("it was stored");
    return blob;
  };
  /** Reads it; returns its bytes and how the read ended. */
  const take = async (range?: ByteRange, blob = open()) => {
    const opened = await blob;
    const pieces: Uint8Array[] = [];
    const read = async () => {
      for await (const piece of readStored(blobs, opened, range, readers))
        pieces.push(Buffer.from(piece));
    };
    const error = await read().catch((thrown: unknown) => thrown);
    await opened.handle.close();
    return { got: Buffer.concat(pieces), error };
  };
  const path = blobPath(layout, digest);
  const isThere = async () => (await blobs.open(digest)) !== undefined;
  return { layout, blobs, bytes, path, damaged, store, open, take, isThere };
}

const ranges: readonly (ByteRange | undefined)[] = [
  undefined,
  { start: 0, end: 1 },
  { start: 100, end: 200_000 },
  { start: size - 10, end: undefined },
  { start: 0, end: size },
];

it.each([0, 1, heldBack, heldBack + 1, 100_000, size])(
  "a stored archive of %i bytes is read whole and in ranges",
  async (length) => {
    const { bytes, take } = await prepare(length);
    for (const range of ranges) {
      const { start = 0, end = length } = range ?? {};
      const { got, error } = await take(range);
      expect(error).toBeUndefined();
      expect(got.equals(bytes.subarray(start, end))).toBe(true);
    }
  },
);

it.each([0, 500_000, size - 1])(
  "one with another byte at %i never ends, in whole or in a range, and is dropped",
  async (at) => {
    for (const range of ranges) {
      const { bytes, path, damaged, take, isThere } = await prepare();
      writeFileSync(path, altered(bytes, at));
      const { got, error } = await take(range);
      expect(error).toEqual(failing("stored-archive-damaged"));
      const { start = 0 } = range ?? {};
      const most = Math.max(0, (range?.end ?? size) - start - heldBack);
      expect(got.length).toBeLessThanOrEqual(most);
      expect(await isThere()).toBe(false);
      expect(damaged).toHaveLength(1);
    }
  },
);

it("one that changes while it is read is found before its end", async () => {
  const { blobs, bytes, path, open } = await prepare();
  // Clocks of file systems tick every few milliseconds.
  utimesSync(path, 0, 0);
  const blob = await open();
  await blobs.verify(blob);
  const body = readStored(blobs, blob, undefined, readers);
  await body.next();
  // In place, since the next piece is being read.
  writeFileSync(path, altered(bytes, 10), { flag: "r+" });
  const rest = Array.fromAsync(body, ({ length }) => length);
  await expect(rest).rejects.toThrow(failing("stored-archive-damaged"));
  await blob.handle.close();
});

it("one that is cut short while it is read is dropped", async () => {
  const { path, open, take, isThere } = await prepare();
  const blob = await open();
  writeFileSync(path, "");
  const { error } = await take(undefined, Promise.resolve(blob));
  expect(error).toEqual(failing("stored-archive-damaged"));
  expect(await isThere()).toBe(false);
});

it("one that was replaced by a good one meanwhile does not take it away", async () => {
  const { bytes, path, store, open, take } = await prepare();
  writeFileSync(path, altered(bytes, 0));
  const old = await open();
  await store();
  const { error } = await take(undefined, Promise.resolve(old));
  expect(error).toEqual(failing("stored-archive-damaged"));
  expect((await take()).got.equals(bytes)).toBe(true);
});

it("one is hashed by another reader where who hashes it leaves, and is good again once it was written to", async () => {
  const { layout, bytes, path, open } = await prepare();
  const blobs = openBlobs(layout);
  const first = await open(blobs);
  const all = Array.from({ length: 19 }, () => open(blobs));
  const others = await Promise.all(all);
  blobs.verify(first).catch(() => undefined);
  const verified = others.map((blob) => blobs.verify(blob));
  await first.handle.close();
  await Promise.all(verified);
  for (const { handle } of others) await handle.close();
  writeFileSync(path, bytes);
  const again = await open(blobs);
  await blobs.verify(again);
  await again.handle.close();
});
