import { utimesSync, writeFileSync } from "node:fs";
import { beforeEach, describe, expect, it, vi } from "vitest";
import type { Sha256 } from "../../../src/address/hash.ts";
import { Retention } from "../../../src/mirror/upkeep/retention.ts";
import { BlobStore } from "../../../src/store/blobs/blob-store.ts";
import { blobPath, type StoreLayout } from "../../../src/store/layout.ts";
import { makeLayout, randomArchive } from "../archives/archives.ts";

const size = 300;
const nothing = () => 0;

let layout: StoreLayout;
let blobs: BlobStore;
/** From the one that was used least recently on. */
let stored: readonly Sha256[];
let evicted: Sha256[];

beforeEach(async () => {
  layout = await makeLayout();
  blobs = new BlobStore(layout);
  evicted = [];
  const found: Sha256[] = [];
  for (const age of [30, 20, 10]) {
    const { digest } = await store(size);
    const at = Date.now() / 1000 - age * 3600;
    utimesSync(blobPath(layout, digest), at, at);
    found.push(digest);
  }
  stored = found;
});

async function store(bytes: number) {
  const archive = randomArchive(bytes);
  const spool = await blobs.createSpool();
  await spool.append(archive.bytes);
  await blobs.commit(spool, archive.digest);
  await spool.release();
  return archive;
}

interface Bounds {
  readonly maxSize?: number | undefined;
  readonly minFree?: number;
  readonly irreplaceable?: readonly Sha256[];
  readonly recordBytes?: number;
  readonly offline?: boolean;
}

function retain({ minFree = 0, recordBytes = 0, ...bounds }: Bounds) {
  return new Retention({
    blobs,
    limits: { maxSize: bounds.maxSize, minFree },
    offline: bounds.offline ?? false,
    listIrreplaceable: () => Promise.resolve(new Set(bounds.irreplaceable)),
    onEvicted: ({ sha256 }) => evicted.push(sha256),
    measureRecords: () => Promise.resolve(recordBytes),
    dropRecords: () => Promise.resolve(),
  });
}

/** Whether there is room for so many bytes, what left for them, and how many there are in all. */
async function make(bounds: Bounds, bytes: number) {
  // The disk has 800 bytes left, and what leaves comes back to it.
  if (bounds.minFree === 1_000)
    vi.spyOn(blobs, "measureFree").mockImplementation(() =>
      Promise.resolve({ bytes: 800 + size * evicted.length, files: undefined }),
    );
  const retention = retain(bounds);
  if (bounds.recordBytes !== undefined) await retention.measure();
  const room = await retention.reserve(bytes, nothing);
  const fits = (await room?.grow(bytes, bytes)) ?? false;
  room?.release();
  return { fits, left: evicted.map((one) => stored.indexOf(one)) };
}

describe("room for an archive, in a store of 900 bytes,", () => {
  it.each<readonly [string, Bounds, number, boolean, readonly number[]]>([
    ["is there where nothing bounds it", {}, 5_000, true, []],
    ["is there to the last byte", { maxSize: 1_000 }, 100, true, []],
    ["is made by the least recently used", { maxSize: 1_000 }, 101, true, [0]],
    [
      "is made by deleting as few as possible",
      { maxSize: 1_000 },
      400,
      true,
      [0],
    ],
    [
      "is made by as many as have to leave",
      { maxSize: 1_000 },
      401,
      true,
      [0, 1],
    ],
    ["is made by all of them", { maxSize: 1_000 }, 1_000, true, [0, 1, 2]],
    [
      "is not there for more than may ever be",
      { maxSize: 1_000 },
      1_001,
      false,
      [],
    ],
    [
      "is not there below what is to stay free",
      { minFree: 2 ** 60 },
      1,
      false,
      [],
    ],
    ["is made for what is to stay free", { minFree: 1_000 }, 300, true, [0, 1]],
    [
      "is not made for that by what could not be fetched again",
      { minFree: 1_000, offline: true },
      300,
      false,
      [],
    ],
    [
      "is made where records take it, too",
      { maxSize: 1_000, recordBytes: 100 },
      1,
      true,
      [0],
    ],
    [
      "is not there where records take all of it",
      { maxSize: 1_000, recordBytes: 900 },
      200,
      false,
      [],
    ],
  ])("%s", async (_, bounds, bytes, fits, left) => {
    expect(await make(bounds, bytes)).toEqual({ fits, left });
  });

  it("is not made by what no origin could give again", async () => {
    const [oldest] = stored;
    if (oldest === undefined) throw new Error("none");
    const irreplaceable = [oldest];
    expect(
      await make({ maxSize: 1_000, irreplaceable: stored }, 200),
    ).toMatchObject({ fits: false });
    expect(await make({ maxSize: 1_000, irreplaceable }, 200)).toEqual({
      fits: true,
      left: [1],
    });
  });

  it("is not made by what is in use", async () => {
    const ends = stored.slice(0, 2).map((one) => blobs.usage.begin(one));
    expect(await make({ maxSize: 1_000 }, 200)).toEqual({
      fits: true,
      left: [2],
    });
    for (const end of ends) end();
  });

  it("is counted once for bytes that come, and given back", async () => {
    const retention = retain({ maxSize: 1_000 });
    const [room, other] = [
      await retention.reserve(undefined, nothing),
      await retention.reserve(undefined, nothing),
    ];
    expect(await room?.grow(60, 60)).toBe(true);
    expect(await other?.grow(40, 40)).toBe(true);
    expect(evicted).toEqual([]);
    expect([room?.size, other?.size]).toEqual([60, 40]);
    other?.release();
    expect(await room?.grow(40, 40)).toBe(true);
    expect(evicted).toEqual([]);
    expect(await room?.grow(1, 1)).toBe(true);
    expect(evicted).toEqual([stored[0]]);
  });

  it("grows by more than needed only without evictions", async () => {
    const retention = retain({ maxSize: 1_000 });
    const room = await retention.reserve(undefined, nothing);
    expect(await room?.grow(10, 90)).toBe(true);
    expect(room?.size).toBe(90);
    expect(await room?.grow(10, 50)).toBe(true);
    expect([room?.size, evicted.length]).toEqual([100, 0]);
  });
});

describe("what is counted", () => {
  it("follows what is stored and what is found damaged", async () => {
    const retention = retain({ maxSize: 10_000 });
    expect(await retention.readFigures()).toBeUndefined();
    expect(await retention.measure()).toMatchObject({
      archives: 3,
      bytes: 900,
    });
    await store(50);
    expect(await retention.readFigures()).toMatchObject({
      archives: 4,
      bytes: 950,
    });
    const [first] = stored;
    if (first === undefined) throw new Error("none");
    writeFileSync(blobPath(layout, first), "not what it was");
    const blob = await new BlobStore(layout).open(first);
    if (blob === undefined) throw new Error("gone");
    await expect(blobs.verify(blob)).rejects.toThrow();
    await blob.handle.close();
    await expect
      .poll(() => retention.readFigures())
      .toMatchObject({ archives: 3, bytes: 650 });
  });

  it("comes back under its bound when it is tended", async () => {
    const retention = retain({ maxSize: 700 });
    await retention.tend();
    expect(evicted).toEqual([stored[0]]);
    expect(await retention.readFigures()).toMatchObject({
      archives: 2,
      bytes: 600,
    });
  });
});
