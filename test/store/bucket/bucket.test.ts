import { hash } from "node:crypto";
import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { execPath } from "node:process";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { failing } from "../../scenes/failing.ts";
import type { BucketSettings } from "../../../src/store/bucket/bucket-settings.ts";
import { BucketRecords } from "../../../src/store/bucket/bucket-records.ts";
import { Bucket } from "../../../src/store/bucket/bucket.ts";
import { proveBucket } from "../../../src/store/bucket/bucket-proof.ts";
import { identifyBucket } from "../../../src/store/bucket/bucket-identity.ts";
import { DiskRecords } from "../../../src/store/records/disk-records.ts";
import { runCommand } from "../../running-command.ts";
import { scratch } from "../../running-mirror.ts";
import { makeLayout } from "../stores.ts";
import {
  bucketLimits,
  canRunCeph,
  startCeph,
  type Ceph,
} from "../../fakes/ceph.ts";

const hasCeph = await canRunCeph();
let ceph: Ceph;
let settings: BucketSettings;
let bucket: Bucket;

async function readText(key: string): Promise<string | undefined> {
  const found = await bucket.get(key);
  return found && text(found.body);
}

async function listKeys(
  prefix: string,
  of = bucket,
): Promise<readonly string[]> {
  const keys: string[] = [];
  for await (const { key } of of.list(prefix)) keys.push(key);
  return keys;
}

describe.runIf(hasCeph)("a bucket of a real Ceph", () => {
  beforeAll(async () => {
    ceph = await startCeph();
    settings = await ceph.makeBucket();
    bucket = new Bucket(settings, bucketLimits);
  }, 120_000);

  afterAll(async () => {
    await bucket.close();
    await ceph.stop();
  });

  it.each(["plain", "a/b/c.json", "x:y+z", "with space", "ü/*'()!~"])(
    "keeps an object under the key %s",
    async (key) => {
      const etag = await bucket.put(key, `at ${key}`);
      expect(await readText(key)).toBe(`at ${key}`);
      expect((await bucket.head(key))?.etag).toBe(etag);
      expect(await listKeys(key)).toEqual([key]);
      await bucket.delete(key);
      expect(await bucket.get(key)).toBeUndefined();
      expect(await bucket.head(key)).toBeUndefined();
    },
  );

  it("lists more objects than one page holds, in order", async () => {
    const names = Array.from({ length: 1_005 }, (_, index) =>
      String(index).padStart(5, "0"),
    );
    for (let start = 0; start < names.length; start += 50)
      await Promise.all(
        names
          .slice(start, start + 50)
          .map((name) => bucket.put(`many/${name}`, name)),
      );
    expect(await listKeys("many/")).toEqual(
      names.map((name) => `many/${name}`),
    );
  });

  it("lets one of many create an object", async () => {
    const outcomes = await Promise.all(
      Array.from({ length: 16 }, (_, index) =>
        bucket.putIf("first", `${index}`, { kind: "absent" }),
      ),
    );
    const winner = outcomes.findIndex(({ kind }) => kind === "written");
    expect(outcomes.filter(({ kind }) => kind === "written")).toHaveLength(1);
    expect(await readText("first")).toBe(`${winner}`);
  });

  it("has the service refuse bytes that are not those of their digest", async () => {
    const other = Buffer.from("other");
    const pieces = async function* () {
      yield await Promise.resolve(other);
    };
    const put = (of: string) => {
      const described = { size: other.length, sha256: hash("sha256", of) };
      return bucket.putPieces("lied", pieces, described);
    };
    await expect(put("right")).rejects.toThrow(failing("bucket-refuses"));
    expect(await bucket.get("lied")).toBeUndefined();
    await put("other");
    expect(await readText("lied")).toBe("other");
  });

  it("names wrong keys and a bucket that is not there", async () => {
    const secretAccessKey = "wrong";
    const wrong = [
      { ...settings, keys: { accessKeyId: "provender", secretAccessKey } },
      { ...settings, bucket: "not-there" },
    ];
    for (const one of wrong) {
      const other = new Bucket(one, bucketLimits);
      await expect(other.put("x", "x")).rejects.toThrow(
        failing("bucket-refuses"),
      );
      await expect(other.get("x")).rejects.toThrow(failing("bucket-refuses"));
      await other.close();
    }
  });

  it("is proven to keep to its conditions, with ETags as Ceph wants them", async () => {
    expect(await proveBucket(bucket)).toBe("unquoted");
    expect(await listKeys("proof/")).toEqual([]);
  });

  it("keeps all of 40 notes that two processes make at once in one record", async () => {
    const own = await ceph.makeBucket();
    const key = ["trust", "seen", "a.example", "acme"];
    const folder = pathToFileURL(
      join(import.meta.dirname, "..", "..", "..", "src", "store", "bucket"),
    ).href;
    const run = promisify(execFile);
    const note = (process: string) => `
      const { Bucket } = await import("${folder}/bucket.ts");
      const { BucketRecords } = await import("${folder}/bucket-records.ts");
      const settings = ${JSON.stringify(own)};
      const endpoint = new URL(settings.endpoint);
      const bucket = new Bucket({ ...settings, endpoint }, ${JSON.stringify(bucketLimits)});
      const records = new BucketRecords(bucket, "unquoted", () => undefined);
      for (let n = 0; n < 20; n++)
        await records.change(${JSON.stringify(key)}, (body) => body, (before) => ({
          notes: [...(before?.notes ?? []), "${process} " + n],
        }));
      await bucket.close();`;
    await Promise.all(
      ["one", "other"].map((process) =>
        run(execPath, ["--input-type=module", "-e", note(process)]),
      ),
    );
    const opened = new Bucket(own, bucketLimits);
    const records = new BucketRecords(opened, "unquoted", () => undefined);
    const kept = (await records.read(key, (body) => body)) as {
      notes: string[];
    };
    expect(kept.notes).toHaveLength(40);
    expect(new Set(kept.notes).size).toBe(40);
    await opened.close();
  }, 60_000);

  it("has one store for all replicas that begin at once, which their directories remember", async () => {
    const own = new Bucket(await ceph.makeBucket(), bucketLimits);
    const layouts = await Promise.all([1, 2, 3].map(makeLayout));
    const found = await Promise.all(
      layouts.map((layout) => identifyBucket(own, layout)),
    );
    expect(new Set(found.map(({ store }) => store)).size).toBe(1);
    const [first] = layouts;
    if (first === undefined) throw new Error("none");
    const later = await identifyBucket(own, first);
    expect(later.store).toBe(found[0]?.store);
    const hasty = new Bucket(
      { ...settings, endpoint: new URL("http://127.0.0.1:9/") },
      bucketLimits,
    );
    expect(await identifyBucket(hasty, first)).toEqual(later);
    await expect(identifyBucket(hasty, await makeLayout())).rejects.toThrow(
      failing("bucket-unreachable"),
    );
    for (const key of await listKeys("", own)) await own.delete(key);
    await expect(identifyBucket(own, first)).rejects.toThrow(
      /expected the store .*, found none/,
    );
    expect(await listKeys("", own)).toEqual([]);
    await own.close();
    await hasty.close();
  });

  it.each<[string, (one: Bucket) => Promise<unknown>]>([
    ["objects of another program", (one) => one.put("x", "x")],
    ["another marker", (one) => one.put("store.json", "{}")],
  ])("is refused with %s, and left as it is", async (_, plant) => {
    const own = new Bucket(await ceph.makeBucket(), bucketLimits);
    await plant(own);
    const before = await listKeys("", own);
    const layout = await makeLayout();
    await expect(identifyBucket(own, layout)).rejects.toThrow(
      failing("bucket-foreign"),
    );
    expect(await listKeys("", own)).toEqual(before);
    await own.close();
  });

  it("is refused for a directory that has records of its own", async () => {
    const layout = await makeLayout();
    const own = new Bucket(await ceph.makeBucket(), bucketLimits);
    await new DiskRecords(layout).create(["trust", "x"], {}, () => ({}));
    await expect(identifyBucket(own, layout)).rejects.toThrow(/trust\/x/);
    await own.close();
  });

  it.each<[string, (text: string) => string, number, RegExp]>([
    ["good", (text) => text, 0, /good for replicas, is empty/],
    [
      "of wrong keys",
      (text) => text.replace("provender-secret", "wrong"),
      1,
      /refuses to .* \(403/,
    ],
    [
      "not answering",
      (text) => text.replace(/127\.0\.0\.1:\d+/, "127.0.0.1:9"),
      1,
      /does not answer/,
    ],
    [
      "of N authorities",
      (text) => text.replace("tls: off", ""),
      2,
      /listen.tls/,
    ],
  ])(
    "is reported by config check when it is %s",
    async (_, spoil, status, said) => {
      const { endpoint, bucket: name } = await ceph.makeBucket();
      const folder = scratch("configured");
      const secret = join(folder, "secret");
      const file = join(folder, "provender.yaml");
      const text = `listen: { tls: off }
storage:
  directory: ${folder}/store
  s3: { endpoint: "${endpoint.href}", bucket: ${name}, accessKeyId: provender, secretAccessKey: { file: secret } }
# provender-secret`;
      const spoilt = spoil(text);
      const [, key = ""] = /# (.*)/.exec(spoilt) ?? [];
      writeFileSync(secret, key, { mode: 0o600 });
      writeFileSync(file, spoilt);
      const run = await runCommand(["config", "check", "--config", file]);
      expect([run.status, run.stdout + run.stderr]).toEqual([
        status,
        expect.stringMatching(said),
      ]);
    },
  );

  it("says that a gateway does not answer, when it hangs and when it is gone, and goes on when it is back", async () => {
    const limits = { ...bucketLimits, firstByte: 300 };
    const hasty = new Bucket(settings, limits);
    ceph.suspend();
    await expect(hasty.get("x")).rejects.toThrow(failing("bucket-unreachable"));
    expect(await hasty.putIf("x", "x", { kind: "absent" })).toMatchObject({
      kind: "unknown",
      failure: failing("bucket-unreachable"),
    });
    ceph.resume();
    await ceph.killGateway();
    await expect(hasty.get("x")).rejects.toThrow(failing("bucket-unreachable"));
    await hasty.close();
    await ceph.startGateway();
    expect(await bucket.get("never")).toBeUndefined();
  }, 60_000);
});
