import { readdirSync, readlinkSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { Archives } from "../../../src/mirror/archives/archives.ts";
import {
  type ByteRange,
  heldBack,
  heldWhole,
  readSize,
} from "../../../src/mirror/archives/download.ts";
import { WrongArchives } from "../../../src/mirror/archives/wrong-archives.ts";
import { BlobStore } from "../../../src/store/blobs/blob-store.ts";
import type { Spool } from "../../../src/store/blobs/spool.ts";
import { openDatabase } from "../../../src/store/database/database.ts";
import type { StoreLayout } from "../../../src/store/layout.ts";
import { TestClock } from "../../fakes/clock.ts";
import { failing } from "../../scenes/failing.ts";
import { address } from "../../scenes/release-sketches.ts";
import { makeLayout, openRecords } from "../../store/stores.ts";
import {
  altered,
  Drain,
  filesIn,
  randomArchive,
  reserveAll,
  SteeredBody,
} from "./archives.ts";

const size = heldWhole + 1_000_000;

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

/** An archive on its way, of which `wrong` is a byte that comes altered, and `announced` what its origin says of its size: 0 for nothing. */
async function prepare(
  options: Partial<
    Record<"length" | "wrong" | "announced" | "waiters", number>
  > = {},
) {
  const { length = size, wrong, announced = length, waiters = 200 } = options;
  const layout = await makeLayout();
  const blobs = new WatchedStore(layout, openDatabase(layout));
  const { bytes, digest } = randomArchive(length);
  const sent = wrong === undefined ? bytes : altered(bytes, wrong);
  const source = new SteeredBody(sent, announced || undefined);
  const ended = Promise.withResolvers<unknown>();
  const events = {
    onVerified: () => undefined,
    onFailed: (_: string, error: unknown) => ended.resolve(error),
  };
  const limits = { fills: 1, fillsPerOrigin: 1, waiters };
  const store = { blobs, reserve: reserveAll };
  const archives = new Archives(store, limits, events);
  const { open: opened } = source;
  const start = { name: "archive.zip", hostname: "a.example", open: opened };
  const open = () => archives.open(digest, start);
  const read = async (range?: ByteRange) => new Drain(await open(), range);
  return {
    ...{ layout, blobs, archives, source, bytes, digest, start },
    ...{ open, read, failed: ended.promise },
  };
}

describe("the last bytes of an archive", () => {
  it("come to no reader before the whole came and its digest matched", async () => {
    const { source, read, bytes } = await prepare();
    const reader = await read();
    await source.sendTo(size);
    await reader.reach(size - heldBack);
    const late = await read();
    await late.reach(size - heldBack);
    expect([reader.size, late.size]).toEqual([
      size - heldBack,
      size - heldBack,
    ]);
    source.end();
    expect((await reader.whole).equals(bytes)).toBe(true);
    expect((await late.whole).equals(bytes)).toBe(true);
  });

  it.each([0, size - heldBack, size - 1])(
    "never come when the byte at %i is another one",
    async (at) => {
      const { source, read, layout, failed } = await prepare({ wrong: at });
      const reader = await read();
      source.finish();
      await expect(reader.whole).rejects.toThrow(failing("archive-digest"));
      expect(reader.size).toBeLessThanOrEqual(size - heldBack);
      expect(await failed).toEqual(failing("archive-digest"));
      expect(filesIn(layout.directory)).toEqual([]);
    },
  );

  it.each([1, heldBack - 1, heldBack, heldBack + 1, readSize + heldBack])(
    "are whole for an archive of %i bytes, with and without an announced size",
    async (length) => {
      for (const announced of [0, length]) {
        const { source, read, bytes } = await prepare({ length, announced });
        const reader = await read();
        source.finish();
        expect((await reader.whole).equals(bytes)).toBe(true);
      }
    },
  );
});

it.each([0, heldWhole])(
  "an archive of 8 MiB comes to no reader at all before its digest matched, announced as %i bytes",
  async (announced) => {
    const scene = await prepare({ length: heldWhole, announced });
    const { source, read, bytes } = scene;
    const reader = await read();
    await source.sendTo(heldWhole);
    expect(reader.size).toBe(0);
    source.end();
    expect((await reader.whole).equals(bytes)).toBe(true);
  },
);

describe("the store", () => {
  it.each<[string, number, (source: SteeredBody) => void]>([
    ["ends early", size, (source) => source.end()],
    ["fails", size, (source) => source.end(new Error("cut"))],
    ["is longer than announced", size - 1, (source) => source.finish()],
  ])("keeps nothing of a body that %s", async (_, announced, end) => {
    const { source, read, layout, failed } = await prepare({ announced });
    const reader = await read();
    await source.sendTo(size - 1);
    end(source);
    await expect(reader.whole).rejects.toThrow();
    await failed;
    expect(filesIn(layout.directory)).toEqual([]);
  });

  it("that cannot put the file in place costs no reader a byte", async () => {
    const { blobs, open, layout, source, bytes, failed } = await prepare();
    blobs.beforeCommit = () => Promise.reject(new Error("ENOTDIR"));
    const archive = await open();
    const reader = new Drain(archive);
    source.finish();
    expect((await reader.whole).equals(bytes)).toBe(true);
    await expect(archive.stored).rejects.toThrow("ENOTDIR");
    await failed;
    expect(filesIn(layout.directory)).toEqual([]);
  });
});

describe("a reader that is slow or leaves", () => {
  it("changes nothing for the writer and the others, and leaves no file open", async () => {
    const { source, open, read, archives, layout, blobs, bytes, digest } =
      await prepare();
    const first = await open();
    const slow = await open();
    const other = await read();
    await source.sendTo(size / 2);
    const firstBody = first.read()[Symbol.asyncIterator]();
    expect((await firstBody.next()).done).toBe(false);
    await firstBody.return?.();
    await first.close();
    const slowBody = slow.read()[Symbol.asyncIterator]();
    const next = async () => {
      const result = await slowBody.next();
      return result.done === true ? undefined : Buffer.from(result.value);
    };
    const pieces = [await next()];
    source.finish();
    expect((await other.whole).equals(bytes)).toBe(true);
    await slow.stored;
    expect(filesIn(layout.blobs)).toEqual([digest]);
    await blobs.delete(digest);
    while (pieces.at(-1) !== undefined) pieces.push(await next());
    const all = pieces.filter((piece) => piece !== undefined);
    expect(Buffer.concat(all).equals(bytes)).toBe(true);
    expect(listOpenFiles(layout)).toHaveLength(1);
    await slow.close();
    expect(listOpenFiles(layout)).toEqual([]);
    await archives.close();
  });
});

/** Files of archives that this process has open. */
function listOpenFiles({ blobs, staging }: StoreLayout): readonly string[] {
  return readdirSync("/proc/self/fd").flatMap((fd) => {
    try {
      const path = readlinkSync(`/proc/self/fd/${fd}`);
      return [blobs, staging].some((folder) => path.startsWith(folder))
        ? [path]
        : [];
    } catch {
      return [];
    }
  });
}

describe("a failure", () => {
  it("of the digest comes to every reader, at any time and for any range", async () => {
    const { source, read } = await prepare({ wrong: 10 });
    const early = await read();
    await source.sendTo(size / 2);
    const joined = await read();
    const start = await read({ start: 0, end: 100 });
    const tail = await read({ start: size - 5, end: size });
    await source.sendTo(size);
    const late = await read();
    source.end();
    for (const reader of [early, joined, start, tail, late])
      await expect(reader.whole).rejects.toThrow(failing("archive-digest"));
    expect([start.size, tail.size]).toEqual([0, 0]);
  });

  it("of the origin comes to every reader as it is", async () => {
    const { archives, digest, start } = await prepare();
    const refusal = new Error("no such origin");
    const archive = await archives.open(digest, {
      ...start,
      open: () => Promise.reject(refusal),
    });
    const reader = new Drain(archive);
    await expect(archive.started).rejects.toBe(refusal);
    await expect(reader.whole).rejects.toBe(refusal);
  });
});

describe("a range of an archive in flight", () => {
  it.each([
    [0, 1],
    [0, heldBack],
    [0, size],
    [10, 400_000],
    [readSize - 1, readSize + 1],
    [size - heldBack - 1, size - heldBack + 1],
    [size - 1, size],
    [400_000, undefined],
  ])("has the bytes from %i up to %s", async (start, end) => {
    const { source, read, bytes } = await prepare();
    const early = await read({ start, end });
    await source.sendTo(size / 2);
    const joined = await read({ start, end });
    source.finish();
    const expected = bytes.subarray(start, end);
    expect((await early.whole).equals(expected)).toBe(true);
    expect((await joined.whole).equals(expected)).toBe(true);
  });
});

describe("one digest", () => {
  const small = (waiters = 200) => prepare({ length: 1_000_000, waiters });

  it("is downloaded once however many ask", async () => {
    const { archives, open, layout, source, bytes, digest } = await small();
    const opened = await Promise.all(Array.from({ length: 200 }, open));
    expect(opened.map(({ outcome }) => outcome).sort()).toEqual([
      "fetched",
      ...Array<string>(199).fill("joined"),
    ]);
    const readers = opened.map((archive) => new Drain(archive));
    source.finish();
    for (const reader of readers)
      expect((await reader.whole).equals(bytes)).toBe(true);
    expect(source.opened).toBe(1);
    await archives.close();
    expect(filesIn(layout.blobs)).toEqual([digest]);
  });

  it.each(["beforeCommit", "afterCommit"] as const)(
    "comes whole to who joins %s",
    async (when) => {
      const { blobs, open, read, source, bytes } = await small();
      const joined = Promise.withResolvers<Buffer>();
      blobs[when] = () => joined.resolve(read().then(({ whole }) => whole));
      await (await open()).close();
      source.finish();
      expect((await joined.promise).equals(bytes)).toBe(true);
      expect(source.opened).toBe(1);
    },
  );

  it("is found by who looks for it while it is stored", async () => {
    const { read, source, bytes } = await prepare({ length: 10_000 });
    source.finish();
    const wholes = Array.from({ length: 200 }, async (_, index) => {
      for (let turn = 0; turn < index * 7; turn++) await Promise.resolve();
      return (await read()).whole;
    });
    for (const whole of wholes) expect((await whole).equals(bytes)).toBe(true);
    expect(source.opened).toBe(1);
  });

  it("has a bounded number of readers, and takes one again when one has left", async () => {
    const { open, source, bytes } = await small(2);
    const [first, second] = [await open(), await open()];
    await expect(open()).rejects.toThrow(failing("too-busy"));
    await first.close();
    const readers = [await open(), second].map((one) => new Drain(one));
    source.finish();
    for (const { whole } of readers)
      expect((await whole).equals(bytes)).toBe(true);
  });

  it("is one of a bounded number, whether or not it is read", async () => {
    const { archives, open, start, source } = await small(1);
    await (await open()).close();
    const other = archives.open(randomArchive(10).digest, start);
    await expect(other).rejects.toThrow(failing("too-busy"));
    // A file left open would be closed, with a warning, in the middle of another test.
    source.end();
    await archives.close();
  });

  it("ends, with its file, when the archives close", async () => {
    const { archives, digest, start, layout } = await small();
    const asked = Promise.withResolvers<undefined>();
    const archive = await archives.open(digest, {
      ...start,
      open: (signal) =>
        new Promise((_, reject) => {
          const end = () => reject(new Error("ended"));
          signal.addEventListener("abort", end);
          asked.resolve(undefined);
        }),
    });
    await asked.promise;
    const reader = new Drain(archive);
    await archives.close();
    await expect(reader.whole).rejects.toThrow("ended");
    expect(filesIn(layout.directory)).toEqual([]);
  });
});

it("what came wrong is refused at once for five minutes, and known until it comes right", async () => {
  const clock = new TestClock();
  const wrong = new WrongArchives(openRecords(await makeLayout()), clock);
  const { digest } = randomArchive(1);
  const one = [address.provider, digest] as const;
  const got = "another digest";
  await wrong.note(...one, got);
  clock.pass(299_999);
  expect(await wrong.find(...one)).toEqual({ got, isRefused: true });
  clock.pass(1);
  expect(await wrong.find(...one)).toEqual({ got, isRefused: false });
  await wrong.clear(...one);
  expect(await wrong.find(...one)).toBeUndefined();
});
