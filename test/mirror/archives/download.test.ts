import { describe, expect, it } from "vitest";
import { Archives } from "../../../src/mirror/archives/archives.ts";
import {
  type ByteRange,
  heldBack,
  heldWhole,
  readSize,
} from "../../../src/mirror/archives/download.ts";
import { makeWrongArchives } from "../../../src/mirror/archives/wrong-archives.ts";
import type { OriginArchive } from "../../../src/origin/http/http-client.ts";
import { BlobStore } from "../../../src/store/blobs/blob-store.ts";
import { openDatabase } from "../../../src/store/database/database.ts";
import { TestClock } from "../../fakes/clock.ts";
import { failing } from "../../scenes/failing.ts";
import { address } from "../../scenes/release-sketches.ts";
import { makeLayout, openRecords } from "../../store/stores.ts";
import {
  altered,
  Drain,
  filesIn,
  listOpenFiles,
  randomArchive,
  reserveAll,
  SteeredBody,
} from "./archives.ts";

const size = heldWhole + 1_000_000;

/** A real store, in whose work tests do what they will. */
class WatchedStore extends BlobStore {
  beforeCommit: () => unknown = () => undefined;
  afterCommit: () => unknown = () => undefined;
  looks = 0;
  /** Hears which look it was, from 1 on. */
  afterLook: (look: number) => unknown = () => undefined;
  beforeVerify: () => unknown = () => undefined;

  override async commit(...of: Parameters<BlobStore["commit"]>): Promise<void> {
    await this.beforeCommit();
    await super.commit(...of);
    await this.afterCommit();
  }

  override async open(...of: Parameters<BlobStore["open"]>) {
    const look = ++this.looks;
    const found = await super.open(...of);
    await this.afterLook(look);
    return found;
  }

  override async verify(...of: Parameters<BlobStore["verify"]>): Promise<void> {
    await this.beforeVerify();
    await super.verify(...of);
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
  const archives = new Archives(
    { blobs, reserve: reserveAll },
    { fills: 1, fillsPerOrigin: 1, waiters },
    {
      onVerified: () => undefined,
      onFailed: (_, error) => ended.resolve(error),
    },
  );
  const start = { name: "archive.zip", hostname: "a.example" };
  const open = (
    from: (signal: AbortSignal) => Promise<OriginArchive> = source.open,
    of = digest,
  ) => archives.open(of, { ...start, open: from });
  const read = async (range?: ByteRange) => new Drain(await open(), range);
  /** Every reader gets all. */
  const expectWhole = async (...readers: readonly Drain[]) => {
    for (const { whole } of readers)
      expect((await whole).equals(bytes)).toBe(true);
  };
  return {
    ...{ layout, blobs, archives, source, bytes, digest },
    ...{ open, read, expectWhole, failed: ended.promise },
  };
}

describe("an archive on its way", () => {
  it("keeps its last bytes from every reader until the digest of the whole matched", async () => {
    const { source, read, expectWhole } = await prepare();
    const reader = await read();
    await source.sendTo(size);
    const late = await read();
    for (const one of [reader, late])
      await expect.poll(() => one.size).toBe(size - heldBack);
    await new Promise(setImmediate);
    for (const one of [reader, late]) expect(one.size).toBe(size - heldBack);
    source.end();
    await expectWhole(reader, late);
  });

  it.each([0, size - heldBack, size - 1])(
    "with another byte at %i fails for every reader, at any time and for any range, and is not kept",
    async (wrong) => {
      const { source, read, layout, failed } = await prepare({ wrong });
      const early = await read();
      await source.sendTo(size / 2);
      const joined = await read();
      const start = await read({ start: 0, end: 100 });
      const tail = await read({ start: size - 5, end: size });
      await source.sendTo(size);
      const all = [early, joined, start, tail, await read()];
      source.end();
      for (const { whole } of all)
        await expect(whole).rejects.toThrow(failing("archive-digest"));
      for (const one of all)
        expect(one.size).toBeLessThanOrEqual(size - heldBack);
      expect([start.size, tail.size]).toEqual([0, 0]);
      expect(await failed).toEqual(failing("archive-digest"));
      expect(filesIn(layout.directory)).toEqual([]);
    },
  );

  it.each([1, heldBack, heldBack + 1, readSize + heldBack])(
    "of %i bytes is whole, with and without an announced size",
    async (length) => {
      for (const announced of [0, length]) {
        const scene = await prepare({ length, announced });
        const reader = await scene.read();
        scene.source.finish();
        await scene.expectWhole(reader);
      }
    },
  );

  it.each([0, heldWhole])(
    "of 8 MiB comes to no reader at all before its digest matched, announced as %i bytes",
    async (announced) => {
      const scene = await prepare({ length: heldWhole, announced });
      const reader = await scene.read();
      await scene.source.sendTo(heldWhole);
      expect(reader.size).toBe(0);
      scene.source.end();
      await scene.expectWhole(reader);
    },
  );

  it.each<[string, number, (source: SteeredBody) => void]>([
    ["ends early", size, (source) => source.end()],
    ["fails", size, (source) => source.end(new Error("cut"))],
    ["is longer than announced", size - 1, (source) => source.finish()],
  ])("is not kept where its body %s", async (_, announced, end) => {
    const { source, read, layout, failed } = await prepare({ announced });
    const reader = await read();
    await source.sendTo(size - 1);
    end(source);
    await expect(reader.whole).rejects.toThrow();
    await failed;
    expect(filesIn(layout.directory)).toEqual([]);
  });

  it("costs no reader a byte where the store cannot put the file in place", async () => {
    const { blobs, open, layout, source, expectWhole, failed } =
      await prepare();
    blobs.beforeCommit = () => Promise.reject(new Error("ENOTDIR"));
    const archive = await open();
    const reader = new Drain(archive);
    source.finish();
    await expectWhole(reader);
    await expect(archive.stored).rejects.toThrow("ENOTDIR");
    await failed;
    expect(filesIn(layout.directory)).toEqual([]);
  });

  it("fails for every reader as its origin does", async () => {
    const { open } = await prepare();
    const refusal = new Error("no such origin");
    const archive = await open(() => Promise.reject(refusal));
    await expect(archive.started).rejects.toBe(refusal);
    await expect(new Drain(archive).whole).rejects.toBe(refusal);
  });

  it("is written on beside readers that are slow or leave, and leaves no file open", async () => {
    const { source, open, read, archives, layout, blobs, ...scene } =
      await prepare();
    const [first, slow] = [await open(), await open()];
    const other = await read();
    await source.sendTo(size / 2);
    const firstBody = first.read()[Symbol.asyncIterator]();
    expect((await firstBody.next()).done).toBe(false);
    await firstBody.return?.();
    await first.close();
    const slowBody = slow.read()[Symbol.asyncIterator]();
    const pieces: Buffer[] = [];
    const next = async () => {
      const result = await slowBody.next();
      if (result.done === true) return false;
      pieces.push(Buffer.from(result.value));
      return true;
    };
    await next();
    source.finish();
    await scene.expectWhole(other);
    await slow.stored;
    expect(filesIn(layout.blobs)).toEqual([scene.digest]);
    await blobs.delete(scene.digest);
    while (await next());
    expect(Buffer.concat(pieces).equals(scene.bytes)).toBe(true);
    expect(listOpenFiles(layout)).toHaveLength(1);
    await slow.close();
    expect(listOpenFiles(layout)).toEqual([]);
    await archives.close();
  });

  it.each([
    [0, 1],
    [0, heldBack],
    [0, size],
    [10, 400_000],
    [readSize - 1, readSize + 1],
    [size - heldBack - 1, size - heldBack + 1],
    [size - 1, size],
    [400_000, undefined],
  ])("has the bytes of a range from %i up to %s", async (start, end) => {
    const { source, read, bytes } = await prepare();
    const early = await read({ start, end });
    await source.sendTo(size / 2);
    const joined = await read({ start, end });
    source.finish();
    for (const { whole } of [early, joined])
      expect((await whole).equals(bytes.subarray(start, end))).toBe(true);
  });
});

describe("one digest", () => {
  const small = (waiters = 200) => prepare({ length: 1_000_000, waiters });

  it("is downloaded once however many ask", async () => {
    const { archives, open, layout, source, digest, expectWhole } =
      await small();
    const opened = await Promise.all(Array.from({ length: 200 }, () => open()));
    expect(opened.map(({ outcome }) => outcome).sort()).toEqual([
      "fetched",
      ...Array<string>(199).fill("joined"),
    ]);
    const readers = opened.map((archive) => new Drain(archive));
    source.finish();
    await expectWhole(...readers);
    expect(source.opened).toBe(1);
    await archives.close();
    expect(filesIn(layout.blobs)).toEqual([digest]);
  });

  it.each(["beforeCommit", "afterCommit"] as const)(
    "comes whole to who joins %s",
    async (when) => {
      const { blobs, open, read, source, expectWhole } = await small();
      const joined = Promise.withResolvers<Drain>();
      blobs[when] = () => joined.resolve(read());
      await (await open()).close();
      source.finish();
      await expectWhole(await joined.promise);
      expect(source.opened).toBe(1);
    },
  );

  it("is found by who looked for it before its download began, and sees it ended", async () => {
    const { blobs, open, source, expectWhole } = await small();
    blobs.afterLook = async (look) => {
      if (look !== 2) return;
      source.finish();
      await (
        await first
      ).stored;
    };
    const first = open();
    const second = open();
    await expectWhole(new Drain(await first), new Drain(await second));
    expect(source.opened).toBe(1);
  });

  it("leaves no file open where the disk fails while it is looked for", async () => {
    const { archives, blobs, open, layout, source } = await small();
    const archive = await open();
    source.finish();
    await archive.stored;
    await archive.close();
    await archives.close();
    blobs.beforeVerify = () => Promise.reject(new Error("EIO"));
    await expect(open()).rejects.toThrow("EIO");
    expect(listOpenFiles(layout)).toEqual([]);
  });

  it("has a bounded number of readers, and takes one again when one has left", async () => {
    const { open, source, expectWhole } = await small(2);
    const [first, second] = [await open(), await open()];
    await expect(open()).rejects.toThrow(failing("too-busy"));
    await first.close();
    const readers = [await open(), second].map((one) => new Drain(one));
    source.finish();
    await expectWhole(...readers);
  });

  it("is one of a bounded number, whether or not it is read", async () => {
    const { archives, open, source } = await small(1);
    await (await open()).close();
    const other = open(source.open, randomArchive(10).digest);
    await expect(other).rejects.toThrow(failing("too-busy"));
    // A file left open would be closed, with a warning, in the middle of another test.
    source.end();
    await archives.close();
  });

  it("ends, with its file, when the archives close", async () => {
    const { archives, open, layout } = await small();
    const asked = Promise.withResolvers<void>();
    const archive = await open((signal) => {
      asked.resolve();
      return new Promise((_, reject) => {
        signal.addEventListener("abort", () => reject(new Error("ended")));
      });
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
  const wrong = makeWrongArchives(openRecords(await makeLayout()), clock);
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
