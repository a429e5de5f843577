import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { checkBucket } from "../../../../src/store/bucket/bucket-identity.ts";
import type { BucketSettings } from "../../../../src/store/bucket/bucket-settings.ts";
import { Bucket } from "../../../../src/store/bucket/bucket.ts";
import { blobPath, recordPaths } from "../../../../src/store/layout.ts";
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
  namespace,
} from "../../../scenes/planted-store.ts";
import {
  makePart,
  writeBucketConfiguration,
} from "../../../scenes/bucket-configuration.ts";
import { nothing, push } from "./carried.ts";

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
])("store push, with the bucket of %s", (_, makeBucket) => {
  it("carries a directory, writes nothing the second time, and leaves that of a replica", async () => {
    const settings = await makeBucket();
    const bucket = new Bucket(settings, bucketLimits);
    const layout = await makeStore(30, 5);
    const all = { records: 30, archives: 5 };
    const pushed = await push(layout, settings);
    expect(pushed).toMatchObject({ status: 0, report: { written: all } });
    const objects = await listObjects(bucket);
    const again = await push(layout, settings);
    expect(again).toMatchObject({
      status: 0,
      report: { found: all, written: nothing },
    });
    expect(await listObjects(bucket)).toEqual(objects);
    expect(await checkBucket(bucket, layout)).toBeDefined();
    await bucket.close();
  });

  it("leaves what was there first, names every difference, and ends with status 1", async () => {
    const settings = await makeBucket();
    const bucket = new Bucket(settings, bucketLimits);
    expect((await push(await makeStore(5, 1), settings)).status).toBe(0);
    const objects = await listObjects(bucket);
    const layout = await makeStore(5, 1);
    plantRecord(layout, firsts(1), { n: "another" });
    plantRecord(layout, namespace, { keys: ["B"] }, 9);
    const before = await readRecords(layout);
    const names = [firsts(1), namespace].map((key) => key.join("/")).toSorted();
    const { status, report } = await push(layout, settings);
    expect(status).toBe(1);
    const { differences } = report;
    expect(differences.map(({ name }) => name).toSorted()).toEqual(names);
    for (const { problem } of differences)
      expect(problem).toContain("the bucket");
    expect(await listObjects(bucket)).toEqual(objects);
    expect(await readRecords(layout)).toEqual(before);
    await expect(checkBucket(bucket, layout)).rejects.toThrow("of its own");
    await bucket.close();
  });

  it("carries no damaged record or archive, and names it", async () => {
    const settings = await makeBucket();
    const bucket = new Bucket(settings, bucketLimits);
    const layout = await makeStore(5, 1);
    for (const path of recordPaths(layout, firsts(0)))
      writeFileSync(path, "cut");
    const sha256 = plantArchive(layout, Buffer.from("as it was"));
    writeFileSync(blobPath(layout, sha256), "as it is now");
    const pushed = await push(layout, settings);
    expect(pushed.status).toBe(1);
    const named = pushed.report.problems.map(({ name }) => name);
    expect(named.toSorted()).toEqual([firsts(0).join("/"), sha256].toSorted());
    await bucket.close();
  });

  it("says what it needs: a bucket, and no daemon beside it", async () => {
    const layout = await makeStore(1, 0);
    const settings = await makeBucket();
    const lock = lockStorageDirectory(layout, "a test");
    await expect(push(layout, settings)).rejects.toThrow(
      /^a test \(process \d+\) works on the storage directory/,
    );
    lock.release();
    const bare = await runCommand(["store", "push"]);
    expect([bare.status, bare.stderr]).toEqual([
      2,
      expect.stringContaining("storage.s3"),
    ]);
    const another = await makeBucket();
    expect((await push(layout, settings)).status).toBe(0);
    await expect(push(layout, another)).rejects.toThrow(
      "is not the one of this mirror",
    );
  });
});

describe.runIf(hasCeph)("store push, killed again and again", () => {
  // 10 000 records and 1 000 archives with PROVENDER_EFFORT=20.
  const [records, archives] = [500 * effort, 50 * effort];

  it(`carries ${records} records and ${archives} archives all the same`, async () => {
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
    expect((await push(layout, settings)).status).toBe(0);
    const pushed = performance.now();
    const objects = await listObjects(bucket);
    expect((await push(layout, settings)).report).toMatchObject({
      found: all,
      written: nothing,
    });
    const repeated = performance.now();
    expect(await listObjects(bucket)).toEqual(objects);
    console.info(
      `${records} records and ${archives} archives: the rest after 5 kills ${Math.round(pushed - began)} ms, again ${Math.round(repeated - pushed)} ms`,
    );
    await bucket.close();
  }, 600_000);
});
