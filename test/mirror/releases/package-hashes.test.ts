import { hash } from "node:crypto";
import { writeFileSync } from "node:fs";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { parseSha256, type Sha256 } from "../../../src/address/hash.ts";
import { PackageHashes } from "../../../src/mirror/releases/package-hashes.ts";
import { blobPath } from "../../../src/store/layout.ts";
import { packageLimits as limits } from "../../../src/verification/archives/limits.ts";
import { ArchiveThreads } from "../../../src/verification/archives/threads.ts";
import { hashOf } from "../../fakes/archive.ts";
import { failing } from "../../scenes/failing.ts";
import { makeLayout, openBlobs, openRecords } from "../../store/stores.ts";
import { zipBytes } from "../../verification/archives/zip-bytes.ts";
import { listOpenFiles } from "../archives/archives.ts";

/** Threads that tell how often they were asked, and what a test does around their work. */
class WatchedThreads extends ArchiveThreads {
  asked = 0;
  before: () => unknown = () => undefined;
  after: () => unknown = () => undefined;

  constructor(deadlineMs = 120_000) {
    super(limits, { threads: 1, deadlineMs });
  }

  override async hash(archive: Parameters<ArchiveThreads["hash"]>[0]) {
    this.asked++;
    await this.before();
    const computed = await super.hash(archive);
    await this.after();
    return computed;
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
  const failures: unknown[] = [];
  const keyOf = (sha256: Sha256) => ["package_hashes", sha256] as const;
  /** Opens the hashes as another process would, or this one after a start. */
  const open = () =>
    new PackageHashes(
      ...([blobs, records, threads] as const),
      (_, error) => failures.push(error),
      patience,
    );
  return {
    ...{ layout, blobs, failures, open, hashes: open() },
    recordOf: (of = sha256) => records.read(keyOf(of), (body) => body),
    writeRecord: (body: unknown, of = sha256) =>
      records.change(keyOf(of), Object, () => body),
    loseRecord: () => records.remove(keyOf(sha256)),
  };
}

const hasNone = { unhashable: "it has an entry for a directory" };

describe.each(["find", "wait"] as const)("the h1 of an archive (%s)", (ask) => {
  it("is computed from the stored bytes, once, and recorded, also for when the archive is gone", async () => {
    const scene = await prepare();
    expect(await scene.hashes[ask](sha256)).toBe(h1);
    expect(await scene.recordOf()).toEqual({ hash: h1 });
    expect(await scene.hashes[ask](sha256)).toBe(h1);
    expect(listOpenFiles(scene.layout)).toEqual([]);
    await scene.blobs.delete(sha256);
    const reopened = scene.open();
    expect(await reopened[ask](sha256)).toBe(h1);
    await scene.loseRecord();
    expect(await reopened[ask](sha256)).toBe(h1);
    expect(watched.asked).toBe(1);
    expect(scene.failures).toEqual([]);
  });

  it("is undefined for an archive that cannot be hashed, which is read once", async () => {
    const { hashes, open, recordOf, failures } = await prepare();
    const none = unhashable.sha256;
    expect(await hashes[ask](none)).toBeUndefined();
    expect(await hashes[ask](none)).toBeUndefined();
    expect(await recordOf(none)).toEqual(hasNone);
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

it.each([{ hash: "h1:short" }, "text"])(
  "an h1 is computed again where its record says %j",
  async (body) => {
    const { hashes, writeRecord, recordOf } = await prepare();
    await writeRecord(body);
    expect(await hashes.find(sha256)).toBe(h1);
    expect(await recordOf()).toEqual({ hash: h1 });
  },
);

it.each(["before", "after"] as const)(
  "an h1 is withheld for an archive that was damaged %s it was hashed",
  async (moment) => {
    const { layout, hashes, failures, recordOf } = await prepare();
    const path = blobPath(layout, sha256);
    const damage = () => writeFileSync(path, zipOf("provider", "b").bytes);
    if (moment === "before") damage();
    else watched.after = damage;
    expect(await hashes.find(sha256)).toBeUndefined();
    expect(watched.asked).toBe(moment === "before" ? 0 : 1);
    expect(failures).toEqual([failing("stored-archive-damaged")]);
    expect(await recordOf()).toBeUndefined();
    expect(listOpenFiles(layout)).toEqual([]);
  },
);

it("an archive that took too long is hashed when it is asked for again", async () => {
  const hasty = new WatchedThreads(1);
  const { hashes, failures } = await prepare(600_000, hasty);
  expect(await hashes.wait(sha256)).toBeUndefined();
  expect(failures).toEqual([failing("archive-unhashable")]);
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
const old = { unhashable: "too old" };
it.each([
  ["an h1", "an h1", archive, other, other],
  ["an h1", "that it has none", archive, old, { hash: h1 }],
  ["that it has none", "an h1", unhashable, other, other],
  ["that it has none", "that it has none", unhashable, old, hasNone],
])(
  "when this mirror finds %s and another version of it %s, the first h1 of the two counts",
  async (_, __, { sha256: digest }, before, kept) => {
    const { hashes, writeRecord, recordOf } = await prepare();
    watched.before = () => writeRecord(before, digest);
    const found = "hash" in kept ? kept.hash : undefined;
    expect(await hashes.wait(digest)).toBe(found);
    expect(await recordOf(digest)).toEqual(kept);
    expect(await hashes.find(digest)).toBe(found);
  },
);
