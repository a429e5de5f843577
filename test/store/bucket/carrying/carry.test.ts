import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { BlobStore } from "../../../../src/store/blobs/blob-store.ts";
import { bodyOf } from "../../../../src/store/bucket/bucket-connection.ts";
import { BucketBlobs } from "../../../../src/store/bucket/bucket-blobs.ts";
import { checkBucket } from "../../../../src/store/bucket/bucket-identity.ts";
import type { BucketSettings } from "../../../../src/store/bucket/bucket-settings.ts";
import { Bucket } from "../../../../src/store/bucket/bucket.ts";
import {
  blobObject,
  blobPath,
  recordObject,
  recordPaths,
} from "../../../../src/store/layout.ts";
import { readSettled } from "../../../../src/store/records/record-copies.ts";
import { seal } from "../../../../src/store/records/seal.ts";
import { lockStorageDirectory } from "../../../../src/store/storage-directory.ts";
import { endingWithTests } from "../../../child-process.ts";
import { effort } from "../../../effort.ts";
import {
  bucketLimits,
  canRunCeph,
  startCeph,
  type Ceph,
} from "../../../fakes/ceph.ts";
import { startLooseBucket } from "../../../fakes/loose-bucket.ts";
import { runCommand } from "../../../running-command.ts";
import { compiledCode } from "../../../running-mirror.ts";
import {
  firsts,
  makeStore,
  plantArchive,
  plantRecord,
  readRecords,
  seen,
} from "../../../scenes/planted-store.ts";
import {
  makePart,
  writeBucketConfiguration,
} from "../../../scenes/bucket-configuration.ts";
import { makeLayout } from "../../stores.ts";
import { nothing, run } from "./carried.ts";

const main = join(import.meta.dirname, "../../../../src/main.ts");
async function listObjects(bucket: Bucket): Promise<readonly string[]> {
  const found: string[] = [];
  for await (const { key, etag, lastModified } of bucket.list(""))
    found.push(`${key} ${etag} ${lastModified.toISOString()}`);
  return found;
}

/** Kills the command once `count` says that so many things came. */
async function killAt(
  most: number,
  count: () => Promise<number>,
  args: readonly string[],
): Promise<void> {
  const child = spawn(
    ...endingWithTests(process.execPath, [main, "store", ...args]),
    {
      env: { ...process.env, NODE_COMPILE_CACHE: compiledCode },
      stdio: "ignore",
    },
  );
  const ended = once(child, "exit");
  while (child.exitCode === null && (await count()) < most);
  child.kill("SIGKILL");
  expect(await ended).toEqual([null, "SIGKILL"]);
}

let ceph: Ceph | undefined;
const loose = await startLooseBucket({ keepsConditions: true });
const hasCeph = await canRunCeph();

beforeAll(async () => {
  if (hasCeph) ceph = await startCeph();
}, 120_000);
afterAll(async () => {
  await ceph?.stop();
  await loose.stop();
});

async function makeCephBucket(): Promise<BucketSettings> {
  if (ceph === undefined) throw new Error("no Ceph");
  return ceph.makeBucket();
}

describe.each<readonly [string, () => Promise<BucketSettings>]>([
  ...(hasCeph ? [["a real Ceph", makeCephBucket] as const] : []),
  ["a fake", () => Promise.resolve(makePart(loose))],
])("store push and pull, with the bucket of %s", (_, makeBucket) => {
  it("carry a directory there and back, write nothing the second time, and leave directories of replicas", async () => {
    const settings = await makeBucket();
    const bucket = new Bucket(settings, bucketLimits);
    const layout = await makeStore(30, 5);
    const all = { records: 30, archives: 5 };
    const pushed = await run("push", layout, settings);
    expect(pushed).toMatchObject({ status: 0, report: { written: all } });
    const objects = await listObjects(bucket);
    const again = await run("push", layout, settings);
    expect(again).toMatchObject({
      status: 0,
      report: { found: all, written: nothing },
    });
    expect(await listObjects(bucket)).toEqual(objects);
    const other = await makeLayout();
    const pulled = await run("pull", other, settings);
    expect(pulled).toMatchObject({ status: 0, report: { written: all } });
    expect(await readRecords(other)).toEqual(await readRecords(layout));
    expect(await run("pull", other, settings)).toMatchObject({
      status: 0,
      report: { found: all, written: nothing },
    });
    for (const one of [layout, other])
      expect(await checkBucket(bucket, one)).toBeDefined();
    // What was changed in the bucket since is newer for a directory of a replica.
    const body = JSON.stringify({ keys: ["A", "B"] });
    const newer = bodyOf(seal(seen, { revision: 4, body }));
    await bucket.put(recordObject(seen), newer);
    expect(await run("pull", other, settings)).toMatchObject({
      status: 0,
      report: { written: { ...nothing, records: 1 } },
    });
    expect(await readSettled(other, seen)).toMatchObject({
      sealed: { revision: 4, body },
    });
    await bucket.close();
  });

  it("leave what was there first, name every difference, and end with status 1", async () => {
    const settings = await makeBucket();
    const bucket = new Bucket(settings, bucketLimits);
    expect((await run("push", await makeStore(5, 1), settings)).status).toBe(0);
    const objects = await listObjects(bucket);
    const layout = await makeStore(5, 1);
    plantRecord(layout, firsts(1), { n: "another" });
    plantRecord(layout, seen, { keys: ["B"] }, 9);
    const before = await readRecords(layout);
    const names = [firsts(1), seen].map((key) => key.join("/")).toSorted();
    for (const [direction, stays] of [
      ["push", "the bucket"],
      ["pull", "the directory"],
    ] as const) {
      const { status, report } = await run(direction, layout, settings);
      expect(status).toBe(1);
      const { differences } = report;
      expect(differences.map(({ name }) => name).toSorted()).toEqual(names);
      for (const { problem } of differences) expect(problem).toContain(stays);
    }
    expect(await listObjects(bucket)).toEqual(objects);
    expect(await readRecords(layout)).toEqual(before);
    await expect(checkBucket(bucket, layout)).rejects.toThrow("of its own");
    await bucket.close();
  });

  it("carry nothing that cannot be believed, and name it", async () => {
    const settings = await makeBucket();
    const bucket = new Bucket(settings, bucketLimits);
    const layout = await makeStore(5, 1);
    for (const path of recordPaths(layout, firsts(0)))
      writeFileSync(path, "cut");
    const sha256 = plantArchive(layout, Buffer.from("as it was"));
    writeFileSync(blobPath(layout, sha256), "as it is now");
    const pushed = await run("push", layout, settings);
    expect(pushed.status).toBe(1);
    const named = pushed.report.problems.map(({ name }) => name);
    expect(named.toSorted()).toEqual([firsts(0).join("/"), sha256].toSorted());
    await bucket.put(blobObject(sha256), bodyOf("another"));
    await bucket.put(recordObject(firsts(1)), bodyOf("another"));
    const other = await makeLayout();
    const pulled = await run("pull", other, settings);
    expect(pulled.status).toBe(1);
    expect(pulled.report.problems.map(({ name }) => name).toSorted()).toEqual(
      [firsts(1).join("/"), sha256].toSorted(),
    );
    expect(await readRecords(other)).toHaveLength(3);
    await bucket.close();
  });

  it("say what they want: a bucket, one with a store, and no daemon beside them", async () => {
    const layout = await makeStore(1, 0);
    const settings = await makeBucket();
    await expect(run("pull", layout, settings)).rejects.toThrow(
      /it has no store.*provender store push/,
    );
    const lock = lockStorageDirectory(layout);
    await expect(run("push", layout, settings)).rejects.toThrow(
      "Another provender serves from",
    );
    lock.release();
    const bare = await runCommand(["store", "push"]);
    expect([bare.status, bare.stderr]).toEqual([
      2,
      expect.stringContaining("storage.s3"),
    ]);
    const another = await makeBucket();
    expect((await run("push", layout, settings)).status).toBe(0);
    await expect(run("push", layout, another)).rejects.toThrow(
      "is not the one of this mirror",
    );
  });
});

describe.runIf(hasCeph)("store push and pull, killed again and again", () => {
  // 10 000 records and 1 000 archives with PROVENDER_EFFORT=20.
  const [records, archives] = [500 * effort, 50 * effort];

  it(`carry ${records} records and ${archives} archives all the same`, async () => {
    const settings = await makeCephBucket();
    const bucket = new Bucket(settings, bucketLimits);
    const layout = await makeStore(records, archives);
    const all = { records, archives };
    const countObjects = async () => (await listObjects(bucket)).length;
    const config = writeBucketConfiguration(layout.directory, settings);
    for (let kill = 1; kill <= 5; kill++) {
      const part = Math.floor(((records + archives) * kill) / 6);
      await killAt(part, countObjects, ["push", "--config", config]);
    }
    const began = performance.now();
    expect((await run("push", layout, settings)).status).toBe(0);
    const pushed = performance.now();
    const objects = await listObjects(bucket);
    expect((await run("push", layout, settings)).report).toMatchObject({
      found: all,
      written: nothing,
    });
    const repeated = performance.now();
    expect(await listObjects(bucket)).toEqual(objects);
    const other = await makeLayout();
    const back = writeBucketConfiguration(other.directory, settings);
    const countRecords = async () => (await readRecords(other)).length;
    for (const part of [1, records / 2])
      await killAt(part, countRecords, ["pull", "--config", back]);
    expect((await run("pull", other, settings)).status).toBe(0);
    expect((await run("pull", other, settings)).report).toMatchObject({
      found: all,
      written: nothing,
    });
    expect(await readRecords(other)).toEqual(await readRecords(layout));
    for await (const { sha256 } of new BucketBlobs(bucket).list())
      expect(await new BlobStore(other).size(sha256)).toBeDefined();
    console.info(
      `${records} records and ${archives} archives: the rest after 5 kills ${Math.round(pushed - began)} ms, again ${Math.round(repeated - pushed)} ms`,
    );
    await bucket.close();
  }, 600_000);
});
