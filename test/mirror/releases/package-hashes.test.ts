import { readdirSync, readlinkSync, writeFileSync } from "node:fs";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { failing } from "../../scenes/failing.ts";
import { hash } from "node:crypto";
import { parseSha256, type Sha256 } from "../../../src/address/hash.ts";
import { PackageHashes } from "../../../src/mirror/releases/package-hashes.ts";
import { blobPath } from "../../../src/store/layout.ts";
import { packageLimits as limits } from "../../../src/verification/archives/limits.ts";
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
}

function zipOf(name: string, content: string) {
  const bytes = zipBytes([{ name, content }]);
  return { bytes, sha256: parseSha256(hash("sha256", bytes)) };
}

const archive = zipOf("provider", "a");
const { sha256 } = archive;
const h1 = hashOf([["provider", Buffer.from("a")]]);
const unhashable = zipOf("folder/", "");

const watched = new WatchedThreads();
beforeEach(() => {
  watched.asked = 0;
  watched.before = watched.after = () => undefined;
});
afterAll(() => watched.close());

/** The hashes of a store that has the archive, and one that cannot be hashed; answers wait for one for so many milliseconds of `patience`, by default longer than any test lasts. */
async function prepare(patience = 600_000, threads = watched) {
  const layout = await makeLayout();
  const blobs = openBlobs(layout);
  const records = openRecords(layout);
  for (const { bytes, sha256 } of [archive, unhashable]) {
    const spool = await blobs.createSpool();
    await spool.append(bytes);
    await blobs.commit(spool, sha256);
    await spool.release();
  }
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
  };
}

function recordKey(sha256: Sha256) {
  return ["package_hashes", sha256] as const;
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

describe.each(["find", "wait"] as const)("the h1 of an archive (%s)", (ask) => {
  it("is computed from the stored bytes, once, and recorded, also for when the archive is gone", async () => {
    const { hashes, open, blobs, records, recordOf, ...prepared } =
      await prepare();
    expect(await hashes[ask](sha256)).toBe(h1);
    expect(await recordOf(sha256)).toEqual({ hash: h1 });
    expect(await hashes[ask](sha256)).toBe(h1);
    expect(countOpen(prepared.pathOf(sha256))).toBe(0);
    await blobs.delete(sha256);
    const reopened = open();
    expect(await reopened[ask](sha256)).toBe(h1);
    await records.remove(recordKey(sha256));
    expect(await reopened[ask](sha256)).toBe(h1);
    expect(watched.asked).toBe(1);
    expect(prepared.failures).toEqual([]);
  });

  it("is undefined for an archive that cannot be hashed, which is read once", async () => {
    const { hashes, open, recordOf, failures } = await prepare();
    const none = unhashable.sha256;
    expect(await hashes[ask](none)).toBeUndefined();
    expect(await hashes[ask](none)).toBeUndefined();
    const recorded = { unhashable: "it has an entry for a directory" };
    expect(await recordOf(none)).toEqual(recorded);
    expect(await open()[ask](none)).toBeUndefined();
    expect(watched.asked).toBe(1);
    expect(failures).toEqual([]);
  });
});

it("an h1 is computed once for all who ask at once", async () => {
  const { hashes } = await prepare();
  const asked = [hashes.find(sha256), hashes.wait(sha256)];
  hashes.schedule(sha256, Promise.resolve());
  expect(await Promise.all(asked)).toEqual([h1, h1]);
  expect(watched.asked).toBe(1);
});

it.each([{ hash: "h1:short" }, { unhashable: 1 }, {}, "text"])(
  "an h1 is computed again where its record says %j",
  async (body) => {
    const { hashes, writeRecord, recordOf } = await prepare();
    await writeRecord(sha256, body);
    expect(await hashes.find(sha256)).toBe(h1);
    expect(await recordOf(sha256)).toEqual({ hash: h1 });
  },
);

it.each(["before", "after"] as const)(
  "an h1 is withheld for an archive that was damaged %s it was hashed",
  async (moment) => {
    const { hashes, failures, pathOf, recordOf } = await prepare();
    const path = pathOf(sha256);
    const damage = () => writeFileSync(path, zipOf("provider", "b").bytes);
    if (moment === "before") damage();
    else watched.after = damage;
    expect(await hashes.find(sha256)).toBeUndefined();
    expect(watched.asked).toBe(moment === "before" ? 0 : 1);
    const error = failing("stored-archive-damaged") as unknown;
    expect(failures).toEqual([{ sha256, error }]);
    expect(await recordOf(sha256)).toBeUndefined();
    expect(countOpen(path)).toBe(0);
  },
);

it("an archive that took too long is hashed when it is asked for again", async () => {
  const hasty = new WatchedThreads(1);
  const { hashes, failures } = await prepare(600_000, hasty);
  expect(await hashes.wait(sha256)).toBeUndefined();
  const error = failing("archive-unhashable") as unknown;
  expect(failures).toEqual([{ sha256, error }]);
  await hashes.wait(sha256);
  expect(hasty.asked).toBe(2);
  await hasty.close();
});

it("an h1 is waited for as long as it takes, but by no answer for longer than its patience", async () => {
  const { hashes } = await prepare(10);
  const { promise, resolve } = Promise.withResolvers<void>();
  watched.before = () => promise;
  const waiting = hashes.wait(sha256);
  expect(await hashes.find(sha256)).toBeUndefined();
  resolve();
  expect(await waiting).toBe(h1);
});

const other = { hash: `h1:${"x".repeat(43)}=` };
const none = { unhashable: "it has an entry for a directory" };
const old = { unhashable: "too old" };
it.each([
  ["an h1", "an h1", archive, other, other],
  ["an h1", "that it has none", archive, old, { hash: h1 }],
  ["that it has none", "an h1", unhashable, other, other],
  ["that it has none", "that it has none", unhashable, old, none],
])(
  "when this mirror finds %s and another version of it %s, the first h1 of the two counts",
  async (_, __, { sha256: digest }, before, kept) => {
    const { hashes, writeRecord, recordOf } = await prepare();
    watched.before = () => writeRecord(digest, before);
    const found = "hash" in kept ? kept.hash : undefined;
    expect(await hashes.wait(digest)).toBe(found);
    expect(await recordOf(digest)).toEqual(kept);
    expect(await hashes.find(digest)).toBe(found);
  },
);
