import { readSize } from "../../../src/mirror/cache/piece-buffers.ts";
import { describe, expect, it } from "vitest";
import { failing } from "../../scenes/failing.ts";
import {
  ArchiveDownload,
  heldBack,
  heldWhole,
} from "../../../src/mirror/cache/archive-download.ts";
import { BlobStore } from "../../../src/store/blobs/blob-store.ts";
import {
  Drain,
  filesIn,
  makeLayout,
  randomArchive,
  SteeredBody,
} from "./archives.ts";

const size = heldWhole + 1_000_000;
const nothing = { verified: () => undefined, leave: () => undefined };

async function prepare({ bytes, digest } = randomArchive(size)) {
  const layout = await makeLayout();
  const blobs = new BlobStore(layout);
  const spool = blobs.planSpool();
  const download = new ArchiveDownload(digest, "archive.zip", spool);
  return { layout, blobs, spool, download, bytes, digest };
}

function altered(bytes: Uint8Array, at: number): Buffer {
  const copy = Buffer.from(bytes);
  copy[at] = (copy[at] ?? 0) ^ 1;
  return copy;
}

describe("the last bytes of an archive", () => {
  it("come to no reader before the digest of the whole matched", async () => {
    const { download, blobs, bytes } = await prepare();
    const source = new SteeredBody(bytes, size);
    const reader = new Drain(download.join());
    let before: number | undefined;
    const verified = () => (before = reader.size);
    const running = download.run(source.open(), blobs, {
      ...nothing,
      verified,
    });
    await source.sendTo(size);
    await reader.reach(size - heldBack);
    const late = new Drain(download.join());
    await late.reach(size - heldBack);
    expect([reader.size, late.size, before]).toEqual([
      size - heldBack,
      size - heldBack,
      undefined,
    ]);
    source.end();
    expect((await reader.whole).equals(bytes)).toBe(true);
    expect((await late.whole).equals(bytes)).toBe(true);
    expect(before).toBe(size - heldBack);
    await running;
  });

  it("never come when one byte anywhere is another one", async () => {
    for (const at of [0, size - heldBack, size - 1]) {
      const { download, blobs, bytes } = await prepare();
      const source = new SteeredBody(altered(bytes, at), size);
      const reader = new Drain(download.join());
      const running = download.run(source.open(), blobs, nothing);
      source.finish();
      await expect(running).rejects.toThrow(failing("archive-digest"));
      await expect(reader.whole).rejects.toThrow(failing("archive-digest"));
      expect(reader.size).toBeLessThanOrEqual(size - heldBack);
    }
  });

  it.each([1, heldBack - 1, heldBack, heldBack + 1, readSize + heldBack])(
    "are whole for an archive of %i bytes, with and without an announced size",
    async (length) => {
      for (const announced of [undefined, length]) {
        const { download, blobs, bytes } = await prepare(randomArchive(length));
        const source = new SteeredBody(bytes, announced);
        const reader = new Drain(download.join());
        const running = download.run(source.open(), blobs, nothing);
        await source.sendTo(length);
        expect(reader.size).toBeLessThanOrEqual(Math.max(0, length - heldBack));
        source.end();
        expect((await reader.whole).equals(bytes)).toBe(true);
        await running;
      }
    },
  );
});

describe("an archive of at most 8 MiB", () => {
  it.each([undefined, heldWhole])(
    "comes to no reader at all before its digest matched, announced as %s bytes",
    async (announced) => {
      const { download, blobs, bytes } = await prepare(
        randomArchive(heldWhole),
      );
      const source = new SteeredBody(bytes, announced);
      const reader = new Drain(download.join());
      const running = download.run(source.open(), blobs, nothing);
      await source.sendTo(heldWhole);
      expect(reader.size).toBe(0);
      source.end();
      expect((await reader.whole).equals(bytes)).toBe(true);
      await running;
    },
  );
});

describe("the blob store", () => {
  it("has nothing before the commit and the archive after it", async () => {
    const { download, blobs, layout, bytes, digest } = await prepare();
    const source = new SteeredBody(bytes, size);
    const seen: (readonly string[])[] = [];
    const look = () => void seen.push(filesIn(layout.blobs));
    const steps = { verified: look, leave: look };
    const running = download.run(source.open(), blobs, steps);
    await source.sendTo(size);
    look();
    source.end();
    await running;
    expect(seen).toEqual([[], [], [digest]]);
    expect(filesIn(layout.staging)).toEqual([]);
  });

  it.each<[string, (source: SteeredBody) => void]>([
    ["an early end", (source) => source.end()],
    ["an error", (source) => source.end(new Error("cut"))],
  ])(
    "gets nothing from a body with %s, and nothing stays in staging",
    async (_, end) => {
      const { download, blobs, layout, bytes } = await prepare();
      const source = new SteeredBody(bytes, size);
      const reader = new Drain(download.join());
      const running = download.run(source.open(), blobs, nothing);
      await source.sendTo(size - 1);
      end(source);
      await expect(running).rejects.toThrow();
      await expect(reader.whole).rejects.toThrow();
      expect(filesIn(layout.directory)).toEqual([]);
    },
  );

  it("gets nothing when more bytes come than were announced", async () => {
    const { download, blobs, layout, bytes } = await prepare();
    const source = new SteeredBody(bytes, size - 1);
    const reader = new Drain(download.join());
    const running = download.run(source.open(), blobs, nothing);
    source.finish();
    await expect(running).rejects.toThrow(failing("origin-answer"));
    await expect(reader.whole).rejects.toThrow(failing("origin-answer"));
    expect(filesIn(layout.directory)).toEqual([]);
  });

  it("that cannot store costs no reader a byte", async () => {
    const { download, layout, bytes } = await prepare();
    const source = new SteeredBody(bytes, size);
    const reader = new Drain(download.join());
    const broken = new BlobStore({ ...layout, blobs: "/dev/null/blobs" });
    const running = download.run(source.open(), broken, nothing);
    source.finish();
    await expect(running).rejects.toThrow(/ENOTDIR/);
    expect((await reader.whole).equals(bytes)).toBe(true);
    expect(filesIn(layout.directory)).toEqual([]);
  });
});

describe("a reader that is slow or leaves", () => {
  it("changes nothing for the writer and the others, the first one included", async () => {
    const { download, blobs, layout, bytes, digest } = await prepare();
    const source = new SteeredBody(bytes, size);
    const first = download.join();
    const slow = download.join();
    const other = new Drain(download.join());
    const running = download.run(source.open(), blobs, nothing);
    await source.sendTo(size / 2);
    const firstBody = first.read()[Symbol.asyncIterator]();
    expect((await firstBody.next()).done).toBe(false);
    await firstBody.return?.();
    await first.close();
    const slowBody = slow.read()[Symbol.asyncIterator]();
    const slowPieces = [
      Buffer.from((await slowBody.next()).value as Uint8Array),
    ];
    source.finish();
    await running;
    expect((await other.whole).equals(bytes)).toBe(true);
    expect(filesIn(layout.blobs)).toEqual([digest]);
    await blobs.delete(digest);
    for (;;) {
      const next = await slowBody.next();
      if (next.done === true) break;
      slowPieces.push(Buffer.from(next.value));
    }
    expect(Buffer.concat(slowPieces).equals(bytes)).toBe(true);
    await slow.close();
  });

  it("leaves no open file behind once the last one has closed", async () => {
    const { download, blobs, spool, bytes } = await prepare();
    const source = new SteeredBody(bytes, size);
    const readers = [download.join(), download.join()];
    const running = download.run(source.open(), blobs, nothing);
    source.finish();
    await running;
    expect(spool.handle.fd).toBeGreaterThan(0);
    for (const reader of readers) await reader.close();
    expect(spool.handle.fd).toBe(-1);
  });
});

describe("after a mismatch", () => {
  it("every reader sees an error, at any time and for any range", async () => {
    const { download, blobs, bytes } = await prepare();
    const source = new SteeredBody(altered(bytes, 10), size);
    const early = new Drain(download.join());
    const running = download.run(source.open(), blobs, nothing);
    await source.sendTo(size / 2);
    const joined = new Drain(download.join());
    const start = new Drain(download.join(), { start: 0, end: 100 });
    const tail = new Drain(download.join(), { start: size - 5, end: size });
    await source.sendTo(size);
    const late = new Drain(download.join());
    source.end();
    await expect(running).rejects.toThrow(failing("archive-digest"));
    for (const reader of [early, joined, start, tail, late])
      await expect(reader.whole).rejects.toThrow(failing("archive-digest"));
    expect([start.size, tail.size]).toEqual([0, 0]);
  });

  it("a reader of a failed origin hears of that failure", async () => {
    const { download, blobs } = await prepare();
    const reader = new Drain(download.join());
    const refusal = new Error("no such origin");
    const running = download.run(Promise.reject(refusal), blobs, nothing);
    await expect(running).rejects.toBe(refusal);
    await expect(download.started).rejects.toBe(refusal);
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
    const { download, blobs, bytes } = await prepare();
    const source = new SteeredBody(bytes, size);
    const running = download.run(source.open(), blobs, nothing);
    const early = new Drain(download.join(), { start, end });
    await source.sendTo(size / 2);
    const joined = new Drain(download.join(), { start, end });
    source.finish();
    const expected = bytes.subarray(start, end);
    expect((await early.whole).equals(expected)).toBe(true);
    expect((await joined.whole).equals(expected)).toBe(true);
    await running;
  });
});
