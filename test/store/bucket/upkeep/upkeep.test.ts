import { hash } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { Sha256 } from "../../../../src/address/hash.ts";
import { BlobStore } from "../../../../src/store/blobs/blob-store.ts";
import { BucketBlobs } from "../../../../src/store/bucket/bucket-blobs.ts";
import type { BucketSettings } from "../../../../src/store/bucket/bucket-settings.ts";
import { Bucket } from "../../../../src/store/bucket/bucket.ts";
import {
  readSharedUses,
  SharedUses,
} from "../../../../src/store/bucket/upkeep/shared-uses.ts";
import {
  blobObject,
  recordObject,
  useObject,
  type RecordKey,
} from "../../../../src/store/layout.ts";
import { seal } from "../../../../src/store/records/seal.ts";
import { expectDocument } from "../../../commands/documents.ts";
import { makeStorage } from "../../../commands/storage.ts";
import { bucketLimits } from "../../../fakes/loose-bucket.ts";
import {
  startLooseBucket,
  type LooseBucket,
} from "../../../fakes/loose-bucket.ts";
import { runHere } from "../../../running-here.ts";
import {
  makePart,
  writeBucketConfiguration,
} from "../../../scenes/bucket-configuration.ts";
import { plantArchive } from "../../../scenes/planted-store.ts";
import { makeLayout } from "../../stores.ts";

const hour = 60 * 60 * 1000;
const module: RecordKey = ["modules", "a.example", "n", "m", "s", "1.0.0"];

let loose: LooseBucket;
let settings: BucketSettings;
beforeAll(async () => {
  loose = await startLooseBucket({ keepsConditions: true });
});
beforeEach(() => {
  settings = makePart(loose);
});
afterAll(() => loose.stop());

/** A bucket of which a record names one archive; `used` of the others was used an hour ago, `idle` two days ago. */
async function fill() {
  const layout = await makeLayout();
  const file = writeBucketConfiguration(layout.directory, settings);
  expect(await runHere(["list", "--config", file])).toMatchObject({
    status: 0,
  });
  const bucket = new Bucket(settings, bucketLimits);
  const put = async (text: string) => {
    const sha256 = hash("sha256", text) as Sha256;
    await bucket.put(blobObject(sha256), text);
    return sha256;
  };
  const archives = {
    named: await put("named"),
    used: await put("used"),
    idle: await put("idle"),
    orphan: await put("orphan"),
  };
  const body = JSON.stringify({ sha256: archives.named });
  await bucket.put(recordObject(module), seal(module, { revision: 1, body }));
  const { used, idle } = archives;
  const say = (replica: string, sha256: Sha256, ago: number, at = Date.now()) =>
    bucket.put(useObject(replica), `${sha256} ${at - ago}\n`);
  await say("one", used, hour);
  await say("two", idle, 48 * hour);
  return { bucket, archives, file, say };
}

async function listArchives(bucket: Bucket): Promise<readonly string[]> {
  const found: string[] = [];
  for await (const { sha256 } of new BucketBlobs(bucket).list())
    found.push(sha256);
  return found.toSorted();
}

async function run(words: string, file: string) {
  const args = [...words.split(" "), "--bucket", "--json", "--config", file];
  const { status, stdout, stderr } = await runHere(args);
  const [command = ""] = words.split(" ");
  if (stdout === "") throw new Error(stderr);
  return { status, said: expectDocument(command, stdout) };
}

describe("prune --bucket", () => {
  it("removes what no record names, no replica used for a day, and is older than that", async () => {
    const { bucket, archives, file } = await fill();
    const { named, used, idle, orphan } = archives;
    const all = Object.values(archives).toSorted();
    expect(await run("prune", file)).toMatchObject({
      status: 0,
      said: { archives: 4, removed: [] },
    });
    const old = new Date(Date.now() - 25 * hour).toISOString();
    for (const sha256 of all)
      loose.times.set(`${settings.prefix}${blobObject(sha256)}`, old);
    const young = Buffer.from("young");
    const youngest = hash("sha256", young) as Sha256;
    await bucket.put(blobObject(youngest), young);
    const dry = await run("prune --dry-run", file);
    const removed = [idle, orphan].toSorted();
    for (const found of [dry, await run("prune", file)]) {
      const { said } = found as { said: { removed: { sha256: string }[] } };
      expect(said.removed.map(({ sha256 }) => sha256).toSorted()).toEqual(
        removed,
      );
    }
    expect(await listArchives(bucket)).toEqual(
      [named, used, youngest].toSorted(),
    );
    await bucket.delete(recordObject(module));
    await bucket.delete(useObject("one"));
    // Records that are lost are no reason to lose the archives, too.
    expect(await run("prune", file)).toMatchObject({ said: { removed: [] } });
    await bucket.close();
  }, 60_000);
});

describe("verify --bucket", () => {
  it("hashes every archive or a sample, judges every record, and drops what is bad", async () => {
    const { bucket, archives, file } = await fill();
    const { used } = archives;
    expect(await run("verify", file)).toMatchObject({
      status: 0,
      said: { archives: 4, records: 1, findings: [] },
    });
    expect(await run("verify --sample 2", file)).toMatchObject({
      status: 0,
      said: { archives: 2, records: 1 },
    });
    await bucket.put(blobObject(used), "another");
    const seen: RecordKey = ["trust", "seen", "a.example", "acme"];
    await bucket.put(recordObject(seen), "forged");
    const bad = await run("verify", file);
    expect(bad.status).toBe(1);
    const names = [used, seen.join("/")];
    const namesOf = ({ said }: { said: unknown }) =>
      (said as { findings: { name: string }[] }).findings.map(
        ({ name }) => name,
      );
    expect(namesOf(bad)).toEqual(expect.arrayContaining(names));
    expect((await run("verify --repair", file)).status).toBe(1);
    expect(await listArchives(bucket)).not.toContain(used);
    expect(namesOf(await run("verify", file))).toEqual([seen.join("/")]);
    await bucket.close();
  }, 60_000);

  it("has from every replica what it used of late", async () => {
    const bucket = new Bucket(settings, bucketLimits);
    const layout = await makeLayout();
    const [used, idle] = [
      plantArchive(layout, Buffer.from("used")),
      plantArchive(layout, Buffer.from("idle")),
    ];
    const blobs = new BlobStore(layout);
    const { usage } = blobs;
    const uses = new SharedUses(bucket, "one", blobs);
    const began = Date.now();
    usage.begin(used)();
    await uses.tell();
    const at = (await readSharedUses(bucket, began)).get(used) ?? 0;
    expect(at).toBeGreaterThan(began - 3_000);
    const [first] = await Array.fromAsync(bucket.list(useObject("one")));
    await uses.tell();
    const [second] = await Array.fromAsync(bucket.list(useObject("one")));
    expect(second?.lastModified).toEqual(first?.lastModified);
    const absent = "0".repeat(64) as Sha256;
    const said = [
      [used, began + 2_000],
      [idle, began + hour],
      [absent, began],
    ].map(([sha256, at]) => `${sha256} ${at}\n`);
    await bucket.put(useObject("two"), said.join(""));
    await uses.learn();
    // Neither what is no news, nor of the future, nor of what is not here.
    const learnt = await usage.read();
    expect(learnt.get(used)).toBeLessThan(began + 2_000);
    expect(learnt.get(idle)).toBeLessThan(began + 60_000);
    expect(learnt.get(idle)).toBeGreaterThan(began - 3_000);
    expect(learnt.has(absent)).toBe(false);
    // A replica that is gone.
    await readSharedUses(bucket, began + 72 * hour);
    expect(await bucket.head(useObject("one"))).toBeUndefined();
    await usage.close();
    await bucket.close();
  });
});

it.each([
  "verify --sample 3",
  "verify --bucket --sample none",
  "prune --bucket",
])(
  "wants a bucket for --bucket, and --bucket for --sample: %s",
  async (words) => {
    const { directory } = await makeLayout();
    const { configFile } = makeStorage({}, directory);
    const args = [...words.split(" "), "--config", configFile];
    expect(await runHere(args)).toMatchObject({ status: 2 });
  },
);
