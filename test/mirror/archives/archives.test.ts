import { describe, expect, it } from "vitest";
import { failing } from "../../scenes/failing.ts";
import {
  Archives,
  type ArchiveStart,
} from "../../../src/mirror/archives/archives.ts";
import { BlobStore } from "../../../src/store/blobs/blob-store.ts";
import type { Spool } from "../../../src/store/blobs/spool.ts";
import { openDatabase } from "../../../src/store/database/database.ts";
import { makeLayout } from "../../store/stores.ts";
import {
  Drain,
  filesIn,
  randomArchive,
  reserveAll,
  SteeredBody,
} from "./archives.ts";

const size = 1_000_000;
const limits = { fills: 64, fillsPerOrigin: 8, waiters: 4096 };
const silent = { onVerified: () => undefined, onFailed: () => undefined };

async function prepare(settings: Partial<typeof limits> = {}) {
  const layout = await makeLayout();
  const blobs = new WatchedStore(layout, openDatabase(layout));
  const cache = new Archives(
    { blobs, reserve: reserveAll },
    { ...limits, ...settings },
    silent,
  );
  return { layout, blobs, cache };
}

function startOf(source: SteeredBody, hostname = "a.example"): ArchiveStart {
  return { name: "archive.zip", hostname, open: source.open };
}

/** A real store that tells when a commit begins and ends. */
class WatchedStore extends BlobStore {
  beforeCommit: () => unknown = () => undefined;
  afterCommit: () => unknown = () => undefined;

  override async commit(
    ...[spool, sha256]: [Spool, Parameters<BlobStore["commit"]>[1]]
  ): Promise<void> {
    await this.beforeCommit();
    await super.commit(spool, sha256);
    await this.afterCommit();
  }
}

describe("one digest", () => {
  it("is downloaded once however many ask", async () => {
    const { cache, layout } = await prepare();
    const { bytes, digest } = randomArchive(size);
    const source = new SteeredBody(bytes, size);
    const opened = await Promise.all(
      Array.from({ length: 200 }, () => cache.open(digest, startOf(source))),
    );
    expect(opened.map(({ outcome }) => outcome).sort()).toEqual([
      "fetched",
      ...Array<string>(199).fill("joined"),
    ]);
    const readers = opened.map((archive) => new Drain(archive));
    source.finish();
    for (const reader of readers)
      expect((await reader.whole).equals(bytes)).toBe(true);
    expect(source.opened).toBe(1);
    await cache.close();
    expect(filesIn(layout.blobs)).toEqual([digest]);
  });
});

describe("a reader that joins", () => {
  const moments: readonly [
    string,
    (parts: {
      readonly blobs: WatchedStore;
      readonly source: SteeredBody;
      readonly join: () => void;
    }) => Promise<void> | void,
  ][] = [
    [
      "in the middle",
      async ({ source, join }) => {
        await source.sendTo(size / 2);
        join();
      },
    ],
    [
      "before the rename",
      ({ blobs, join }) => ((blobs.beforeCommit = join), undefined),
    ],
    [
      "after the rename",
      ({ blobs, join }) => ((blobs.afterCommit = join), undefined),
    ],
  ];

  it.each(moments)(
    "%s gets the whole archive from the one download",
    async (_, arrange) => {
      const { cache, blobs } = await prepare();
      const { bytes, digest } = randomArchive(size);
      const source = new SteeredBody(bytes, size);
      const joined = Promise.withResolvers<Buffer>();
      const join = () => {
        joined.resolve(
          cache
            .open(digest, startOf(source))
            .then((archive) => new Drain(archive).whole),
        );
      };
      const first = await cache.open(digest, startOf(source));
      await first.close();
      await arrange({ blobs, source, join });
      source.finish();
      expect((await joined.promise).equals(bytes)).toBe(true);
      expect(source.opened).toBe(1);
    },
  );

  it("while it is being looked for in the store finds what was stored meanwhile", async () => {
    const { cache } = await prepare();
    const { bytes, digest } = randomArchive(10_000);
    const source = new SteeredBody(bytes);
    source.finish();
    const wholes = Array.from({ length: 200 }, async (_, index) => {
      await after(index * 7, () => undefined);
      const archive = await cache.open(digest, startOf(source));
      return new Drain(archive).whole;
    });
    for (const whole of wholes) expect((await whole).equals(bytes)).toBe(true);
    expect(source.opened).toBe(1);
  });
});

describe("the bounds of the cache", () => {
  it("refuses one reader too many, and serves again when one has left", async () => {
    const { cache } = await prepare({ waiters: 2 });
    const { bytes, digest } = randomArchive(size);
    const source = new SteeredBody(bytes, size);
    const first = await cache.open(digest, startOf(source));
    const second = await cache.open(digest, startOf(source));
    await expect(cache.open(digest, startOf(source))).rejects.toThrow(
      failing("too-busy"),
    );
    await first.close();
    const third = new Drain(await cache.open(digest, startOf(source)));
    source.finish();
    expect((await third.whole).equals(bytes)).toBe(true);
    expect((await new Drain(second).whole).equals(bytes)).toBe(true);
  });

  it("ends its downloads and their files when it closes", async () => {
    const { cache, layout } = await prepare();
    const { digest } = randomArchive(size);
    const asked = Promise.withResolvers<undefined>();
    const start: ArchiveStart = {
      name: "archive.zip",
      hostname: "a.example",
      open: (signal) =>
        new Promise((_, reject) => {
          const end = () => reject(new Error("ended"));
          signal.addEventListener("abort", end);
          asked.resolve(undefined);
        }),
    };
    const archive = await cache.open(digest, start);
    await asked.promise;
    const reader = new Drain(archive);
    await cache.close();
    await expect(reader.whole).rejects.toThrow("ended");
    expect(filesIn(layout.directory)).toEqual([]);
  });
});

/** Runs `then` after so many turns of the microtask queue. */
async function after(turns: number, then: () => void): Promise<void> {
  for (let turn = 0; turn < turns; turn++) await Promise.resolve();
  then();
}
