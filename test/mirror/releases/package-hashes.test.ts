import { readdirSync, readlinkSync, writeFileSync } from "node:fs";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { failing } from "../../scenes/failing.ts";
import { createHash } from "node:crypto";
import { parseSha256, type Sha256 } from "../../../src/address/hash.ts";
import { PackageHashes } from "../../../src/mirror/releases/package-hashes.ts";
import { blobPath } from "../../../src/store/layout.ts";
import { ArchiveThreads } from "../../../src/verification/archives/threads.ts";
import { hashOf } from "../../fakes/archive.ts";
import { makeLayout, openBlobs, openRecords } from "../../store/stores.ts";
import { zipBytes } from "../../verification/archives/zip-bytes.ts";

/** Threads that tell how often they were asked, and what a test does around their work. */
class WatchedThreads extends ArchiveThreads {
  asked = 0;
  before: () => Promise<void> | void = () => undefined;
  after: () => Promise<void> | void = () => undefined;

  constructor(deadlineMs = 120_000) {
    const limits = { entries: 4096, expandedBytes: 2 ** 33, ratio: 200 };
    super({ threads: 1, limits, deadlineMs });
  }

  override async hash(archive: Parameters<ArchiveThreads["hash"]>[0]) {
    this.asked++;
    await this.before();
    try {
      return await super.hash(archive);
    } finally {
      await this.after();
    }
  }

  /** Resets the scene for the next test. */
  reset(): void {
    this.asked = 0;
    this.before = this.after = () => undefined;
  }
}

/** An archive with this content; `deflate` makes other bytes with the same h1. */
function zipOf(content: string, deflate = false) {
  const bytes = zipBytes([{ name: "provider", content, deflate }]);
  const h1 = hashOf([["provider", Buffer.from(content)]]);
  return { bytes, sha256: digest(bytes), h1 };
}

/** One that no h1 can be computed of. */
function unhashableZip() {
  const bytes = zipBytes([{ name: "folder/", content: "" }]);
  return { bytes, sha256: digest(bytes) };
}

function digest(bytes: Uint8Array): Sha256 {
  return parseSha256(createHash("sha256").update(bytes).digest("hex"));
}

/** The hashes of a store of its own; answers wait for one for so many milliseconds of `patience`, by default longer than any test lasts. */
async function prepareHashes(threads: ArchiveThreads, patience = 600_000) {
  const layout = await makeLayout();
  const blobs = openBlobs(layout);
  const records = openRecords(layout);
  const failures: { readonly sha256: Sha256; readonly error: unknown }[] = [];
  /** Opens the hashes as another process would, or this one after a start. */
  const open = () =>
    new PackageHashes(
      ...([blobs, records, threads] as const),
      (sha256, error) => failures.push({ sha256, error }),
      patience,
    );
  return {
    ...{ layout, blobs, records, failures, open },
    hashes: open(),
    recordOf: (sha256: Sha256) =>
      records.read(recordKey(sha256), (body) => body),
    writeRecord: (sha256: Sha256, body: unknown) =>
      records.change(recordKey(sha256), Object, () => body),
    pathOf: (sha256: Sha256) => blobPath(layout, sha256),
    store: async ({ bytes, sha256 }: Stored) => {
      const spool = await blobs.createSpool();
      await spool.append(bytes);
      await blobs.commit(spool, sha256);
      await spool.release();
    },
  };
}

interface Stored {
  readonly bytes: Uint8Array;
  readonly sha256: Sha256;
}

function recordKey(sha256: Sha256) {
  return ["package_hashes", sha256] as const;
}

const threads = new WatchedThreads();
beforeEach(() => threads.reset());
afterAll(() => threads.close());

const archive = zipOf("a");
const { sha256, h1 } = archive;
const unhashable = unhashableZip();

/** Hashes of a store that has the archive, and one that cannot be hashed. */
async function prepare(patience?: number) {
  const scene = await prepareHashes(threads, patience);
  await scene.store(archive);
  await scene.store(unhashable);
  return scene;
}

/** Files of the archive that this process has open. */
function countOpen(path: string): number {
  return readdirSync("/proc/self/fd").filter((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`) === path;
    } catch {
      return false;
    }
  }).length;
}

describe("the h1 of an archive", () => {
  it.each(["find", "wait"] as const)(
    "is computed from the stored bytes, once, and recorded (%s)",
    async (ask) => {
      const { hashes, recordOf, failures, pathOf } = await prepare();
      expect(await hashes[ask](sha256)).toBe(h1);
      expect(await recordOf(sha256)).toEqual({ hash: h1 });
      expect(await hashes[ask](sha256)).toBe(h1);
      expect(threads.asked).toBe(1);
      expect(countOpen(pathOf(sha256))).toBe(0);
      expect(failures).toEqual([]);
    },
  );

  it.each(["find", "wait"] as const)(
    "is read once from what was recorded, also of an archive that is gone (%s)",
    async (ask) => {
      const { hashes, open, blobs, records } = await prepare();
      await hashes.find(sha256);
      await blobs.delete(sha256);
      const reopened = open();
      expect(await reopened[ask](sha256)).toBe(h1);
      await records.remove(recordKey(sha256));
      expect(await reopened.find(sha256)).toBe(h1);
      expect(threads.asked).toBe(1);
    },
  );

  it("is computed once for all who ask at once", async () => {
    const { hashes } = await prepare();
    const asked = [hashes.find(sha256), hashes.wait(sha256)];
    hashes.schedule(sha256, Promise.resolve());
    expect(await Promise.all(asked)).toEqual([h1, h1]);
    expect(threads.asked).toBe(1);
  });

  it.each(["find", "wait"] as const)(
    "is undefined for an archive that cannot be hashed, which is read once (%s)",
    async (ask) => {
      const { hashes, open, recordOf, failures } = await prepare();
      const none = unhashable.sha256;
      expect(await hashes[ask](none)).toBeUndefined();
      expect(await hashes[ask](none)).toBeUndefined();
      const recorded = { unhashable: "it has an entry for a directory" };
      expect(await recordOf(none)).toEqual(recorded);
      expect(await open()[ask](none)).toBeUndefined();
      expect(threads.asked).toBe(1);
      expect(failures).toEqual([]);
    },
  );

  it.each([{ hash: "h1:short" }, { unhashable: 1 }, {}, "text"])(
    "is computed again where its record says %j",
    async (body) => {
      const { hashes, writeRecord, recordOf } = await prepare();
      await writeRecord(sha256, body);
      expect(await hashes.find(sha256)).toBe(h1);
      expect(await recordOf(sha256)).toEqual({ hash: h1 });
    },
  );
});

describe("an h1 that cannot be computed now", () => {
  it.each(["before", "after"] as const)(
    "is withheld for an archive that was damaged %s it was hashed",
    async (moment) => {
      const { hashes, failures, pathOf, recordOf } = await prepare();
      const damage = () => writeFileSync(pathOf(sha256), zipOf("b").bytes);
      if (moment === "before") damage();
      else threads.after = damage;
      const path = pathOf(sha256);
      expect(await hashes.find(sha256)).toBeUndefined();
      expect(threads.asked).toBe(moment === "before" ? 0 : 1);
      const error = failing("stored-archive-damaged") as unknown;
      expect(failures).toEqual([{ sha256, error }]);
      expect(await recordOf(sha256)).toBeUndefined();
      expect(countOpen(path)).toBe(0);
    },
  );

  it("says nothing of an archive that took too long, which is hashed when it is asked for again", async () => {
    const hasty = new WatchedThreads(1);
    const { store, hashes, failures } = await prepareHashes(hasty);
    await store(archive);
    expect(await hashes.wait(sha256)).toBeUndefined();
    expect(failures.map(({ error }) => error)).toEqual([
      failing("archive-unhashable"),
    ]);
    await hashes.wait(sha256);
    expect(hasty.asked).toBe(2);
    await hasty.close();
  });
});

describe("an h1 that takes its time", () => {
  it("is waited for as long as it takes, but by no answer for longer than its patience", async () => {
    const { hashes } = await prepare(10);
    const { promise, resolve } = Promise.withResolvers<void>();
    threads.before = () => promise;
    const waiting = hashes.wait(sha256);
    expect(await hashes.find(sha256)).toBeUndefined();
    resolve();
    expect(await waiting).toBe(h1);
  });
});

describe("what another version of the mirror made of the same archive", () => {
  const other = `h1:${"x".repeat(43)}=`;
  it.each([
    ["an h1", "an h1", archive, { hash: other }, { hash: other }],
    [
      "an h1",
      "that it has none",
      archive,
      { unhashable: "too old" },
      { hash: h1 },
    ],
    ["that it has none", "an h1", unhashable, { hash: other }, { hash: other }],
    [
      "that it has none",
      "that it has none",
      unhashable,
      { unhashable: "too old" },
      { unhashable: "it has an entry for a directory" },
    ],
  ])(
    "counts, when this one finds %s and the other one %s, as the first h1 of the two",
    async (_, __, { sha256: digest }, before, kept) => {
      const { hashes, writeRecord, recordOf } = await prepare();
      threads.before = () => writeRecord(digest, before);
      const found = "hash" in kept ? kept.hash : undefined;
      expect(await hashes.wait(digest)).toBe(found);
      expect(await recordOf(digest)).toEqual(kept);
      expect(await hashes.find(digest)).toBe(found);
    },
  );
});
