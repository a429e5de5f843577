import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  BucketHasWriter,
  BucketUnproven,
} from "../../../../src/errors/index.ts";
import { bodyOf } from "../../../../src/store/bucket/bucket-connection.ts";
import { expectProof } from "../../../../src/store/bucket/bucket-identity.ts";
import { BucketRecords } from "../../../../src/store/bucket/bucket-records.ts";
import type { BucketSettings } from "../../../../src/store/bucket/bucket-settings.ts";
import { Bucket } from "../../../../src/store/bucket/bucket.ts";
import { SoleWriterBucket } from "../../../../src/store/bucket/writer/sole-writer-bucket.ts";
import { WriterLease } from "../../../../src/store/bucket/writer/writer-lease.ts";
import type { RecordKey, StoreLayout } from "../../../../src/store/layout.ts";
import { ChangeLocks } from "../../../../src/store/records/change-locks.ts";
import {
  bucketLimits,
  canRunCeph,
  startCeph,
  type Ceph,
} from "../../../fakes/ceph.ts";
import {
  startLooseBucket,
  type LooseBucket,
} from "../../../fakes/loose-bucket.ts";
import { runCommand } from "../../../running-command.ts";
import {
  scratch,
  startMirror,
  type RunningMirror,
} from "../../../running-mirror.ts";
import {
  makePart,
  writeBucketConfiguration,
} from "../../../scenes/bucket-configuration.ts";
import { eventually } from "../../../scenes/provider-requests.ts";
import { itIsARecordStore } from "../../records/record-compliance.ts";
import { makeLayout } from "../../stores.ts";

let loose: LooseBucket;
let ceph: Ceph | undefined;
const hasCeph = await canRunCeph();
const opened: Bucket[] = [];

beforeAll(async () => {
  loose = await startLooseBucket({ keepsConditions: false });
  if (hasCeph) ceph = await startCeph();
}, 120_000);
afterAll(async () => {
  for (const bucket of opened) await bucket.close();
  await loose.stop();
  await ceph?.stop();
});

const makeLoose = () => makePart(loose);

async function makeCeph(): Promise<BucketSettings> {
  if (ceph === undefined) throw new Error("no Ceph");
  return ceph.makeBucket();
}

function open(settings: BucketSettings): Bucket {
  const bucket = new Bucket(settings, bucketLimits);
  opened.push(bucket);
  return bucket;
}

function openAlone(settings: BucketSettings, layout: StoreLayout): Bucket {
  const locks = new ChangeLocks(layout);
  const bucket = new SoleWriterBucket(settings, bucketLimits, locks);
  opened.push(bucket);
  return bucket;
}

function leaseOf(settings: BucketSettings, id: string) {
  const bucket = open(settings);
  return { bucket, lease: new WriterLease(bucket, { id, name: `on ${id}` }) };
}

const key: RecordKey = ["trust", "seen", "a.example", "acme"];

/** Of 40 notes that 4 processes of one machine write at once. */
async function countNotes(buckets: readonly Bucket[]): Promise<number> {
  const stores = buckets.map(
    (bucket) => new BucketRecords(bucket, "quoted", () => undefined),
  );
  const read = (body: unknown) => body as readonly number[];
  const notes = stores.flatMap((records) =>
    Array.from({ length: 10 }, (_, n) =>
      records.change(key, read, (before = []) => [...before, n]),
    ),
  );
  await Promise.all(notes);
  return (await stores[0]?.read(key, read))?.length ?? 0;
}

describe("a bucket of one writer that keeps no conditions", () => {
  itIsARecordStore(async () => {
    const [settings, layout] = [makeLoose(), await makeLayout()];
    return {
      open: () =>
        new BucketRecords(
          openAlone(settings, layout),
          "unquoted",
          () => undefined,
        ),
    };
  });

  it("loses no note of the processes of its machine, where several writers lose most", async () => {
    const [settings, layout] = [makeLoose(), await makeLayout()];
    const four = [1, 2, 3, 4];
    const alone = four.map(() => openAlone(settings, layout));
    expect(await countNotes(alone)).toBe(40);
    const other = makeLoose();
    expect(await countNotes(four.map(() => open(other)))).toBeLessThan(40);
    await expect(expectProof(open(other))).rejects.toThrow(BucketUnproven);
    await expect(expectProof(open(other))).rejects.toThrow(
      /created twice.*"storage\.s3\.writers: one"/,
    );
  });
});

describe.each<
  readonly [string, () => BucketSettings | Promise<BucketSettings>]
>([
  ...(hasCeph ? [["a real Ceph", makeCeph] as const] : []),
  ["a fake that keeps no conditions", makeLoose],
])("the writer of a bucket of %s", (_, make) => {
  it("is the first of two, until it gives way", async () => {
    const settings = await make();
    const [one, other] = [leaseOf(settings, "one"), leaseOf(settings, "two")];
    await one.lease.take();
    await one.bucket.put("x", bodyOf("x"));
    const many = leaseOf(settings, "three");
    await Promise.all([
      expect(other.lease.take()).rejects.toThrow(
        /is written by on one alone \("storage\.s3\.writers: one"\)/,
      ),
      expect(many.lease.expectNone()).rejects.toThrow(BucketHasWriter),
    ]);
    await expect(other.bucket.put("x", bodyOf("y"))).rejects.toThrow("on one");
    await one.lease.release();
    await other.lease.release();
    const next = leaseOf(settings, "two");
    await next.lease.take();
    await next.bucket.put("x", bodyOf("y"));
    const beside = leaseOf(settings, "two");
    await beside.lease.take();
    await beside.lease.release();
    expect(await next.bucket.head("leases/v1/writer")).toBeDefined();
    await next.lease.release();
  }, 30_000);

  it("is one of many that ask at once", async () => {
    const settings = await make();
    const all = Array.from({ length: 6 }, (_, n) => leaseOf(settings, `${n}`));
    const taken = await Promise.allSettled(
      all.map(({ lease }) => lease.take()),
    );
    const won = taken.filter(({ status }) => status === "fulfilled");
    expect(won).toHaveLength(1);
    await Promise.all(all.map(({ lease }) => lease.release()));
  }, 30_000);
});

it("is taken over 15 s after a daemon stood still, which writes nothing any more", async () => {
  const settings = makeLoose();
  const start = (directory: string) => {
    const s3 = { ...loose.settings, prefix: settings.prefix, writers: "one" };
    const storage = { directory, s3 };
    return startMirror({ directory, config: { ...config, storage } });
  };
  const config = { listen: { port: 0, tls: "off" }, origins: {} };
  const [first, second] = [scratch("first"), scratch("second")];
  const one = await start(first);
  const file = writeBucketConfiguration(second, settings, { writers: "one" });
  const refused = await runCommand(["serve", "--config", file]);
  expect([refused.status, refused.stderr]).toEqual([
    1,
    expect.stringContaining(`${first} alone ("storage.s3.writers: one")`),
  ]);
  one.process.kill("SIGSTOP");
  const began = performance.now();
  // Another bucket, of a writer that died: many may have it, and wait once.
  const died = makeLoose();
  const left = leaseOf(died, "left").bucket;
  await left.put("leases/v1/writer", bodyOf('{"id":"x","name":"dead"}'));
  const freed = leaseOf(died, "many").lease.expectNone();
  const two = await start(second);
  const waited = performance.now() - began;
  expect(waited).toBeGreaterThan(15_000);
  expect(waited).toBeLessThan(30_000);
  await freed;
  expect(await left.head("leases/v1/writer")).toBeUndefined();
  one.process.kill("SIGCONT");
  const healthOf = async (mirror: RunningMirror) =>
    (await mirror.get("/healthz")).body.toString();
  await eventually(
    () => healthOf(one),
    (body) => body.includes("degraded") && body.includes(second),
  );
  await eventually(
    () => healthOf(two),
    (body) => !body.includes("degraded"),
  );
  await one.stop();
  await two.stop();
  const own = `${settings.prefix}leases/v1/writer`;
  expect(loose.objects.has(own)).toBe(false);
}, 60_000);
