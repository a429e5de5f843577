import { existsSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import type { Sha256 } from "../../src/address/hash.ts";
import { Bucket } from "../../src/store/bucket/bucket.ts";
import {
  blobPath,
  layOutStore,
  recordObject,
  type RecordKey,
} from "../../src/store/layout.ts";
import { seal } from "../../src/store/records/seal.ts";
import { bucketLimits, canRunCeph } from "../fakes/ceph.ts";
import { onlyFor, status } from "../fakes/faults.ts";
import { tarGz } from "../fakes/module-archive.ts";
import type { Release } from "../fakes/release.ts";
import { scratch, type RunningMirror } from "../running-mirror.ts";
import {
  countAlarms,
  digestsIn,
  eventually,
  listedIn,
  outcomeOf,
  requestsFor,
} from "../scenes/provider-requests.ts";
import {
  moduleHost,
  readObject,
  startReplicaScene,
  type ReplicaScene,
} from "../scenes/replica-scene.ts";

let scene: ReplicaScene;

async function fetchModule(
  mirror: RunningMirror,
  name: string,
): Promise<Buffer> {
  const path = `v1/modules/${moduleHost}/acme/${name}/aws/1.0.0/download`;
  const found = await mirror.get(`/${path}`);
  const location = String(found.headers["x-terraform-get"]);
  return (await mirror.get(new URL(location, mirror.url + path).href)).body;
}

function hashKey(sha256: string): RecordKey {
  return ["package-hashes", sha256.slice(0, 2), sha256];
}

function digestOf(release: Release): Sha256 {
  return release.archive("linux_amd64").sha256 as Sha256;
}

function fileOf(directory: string, release: Release): string {
  return blobPath(layOutStore(directory), digestOf(release));
}

/** A client has its last byte before the disk has. */
async function keep(
  mirror: RunningMirror | undefined,
  release: Release,
): Promise<void> {
  if (mirror === undefined) throw new Error("none");
  const got = await requestsFor(mirror, release.type).archive("1.0.0");
  expect([got.status, got.complete]).toEqual([200, true]);
  const stored = () => existsSync(fileOf(mirror.directory, release));
  await expect.poll(stored, { timeout: 20_000 }).toBe(true);
}

describe.runIf(await canRunCeph())("what replicas share", () => {
  beforeAll(async () => {
    scene = await startReplicaScene();
  }, 120_000);
  afterEach(() => scene.stopReplicas());
  afterAll(() => scene.stop());

  it("are modules: each replica asks their origin at most once, and all have the same", async () => {
    const replicas = await scene.start({ count: 3 });
    const { modules } = scene;
    const padding = "x".repeat(200_000);
    const bytes = await tarGz([["main.tf", `# ${padding}`]]);
    const names = Array.from({ length: 5 }, (_, n) => `wanted-${n}`);
    for (const name of names) {
      const url = modules.serve(`/files/${name}.tar.gz`, bytes);
      modules.publish(`acme/${name}/aws`, "1.0.0", url);
    }
    const got = await Promise.all(
      names.flatMap((name) => replicas.map((one) => fetchModule(one, name))),
    );
    expect(got.every((body) => body.equals(bytes))).toBe(true);
    const asked = names.map((name) => modules.count(`/files/${name}.tar.gz`));
    expect(asked.every((times) => times <= replicas.length)).toBe(true);
  }, 60_000);

  it("is what one found to have no files: the others leave it out without asking for it", async () => {
    const { registry } = scene;
    for (const version of ["1.0.0", "1.1.0", "2.0.0"])
      await registry.publish({ type: "vanished", version });
    const freshness = { versions: "1h" };
    const replicas = await scene.start({ count: 2, config: { freshness } });
    const [first, second] = replicas.map((one) => requestsFor(one, "vanished"));
    if (first === undefined || second === undefined) throw new Error("none");
    const all = ["1.0.0", "1.1.0", "2.0.0"];
    expect(listedIn(await first.index())).toEqual(all);
    expect(listedIn(await second.index())).toEqual(all);
    registry.script("checksums", onlyFor(/1\.1\.0/, status(404)));
    expect(outcomeOf(await first.version("1.1.0"))).toBe("404 not-found");
    const asked = registry.requests.count("checksums");
    const left = await eventually(
      async () => listedIn(await second.index()),
      (versions) => !versions.includes("1.1.0"),
      20_000,
    );
    expect(left).toEqual(["1.0.0", "2.0.0"]);
    expect(registry.requests.count("checksums")).toBe(asked);
    registry.heal();
  }, 60_000);

  it("is what origins say of versions: they are asked once by each replica that wants it at once, and not again", async () => {
    const bucket = await scene.makeBucket();
    const replicas = await scene.start({ count: 3, bucket });
    const { modules, registry } = scene;
    const types = Array.from({ length: 5 }, (_, n) => `listed-${n}`);
    for (const type of types) {
      await registry.publish({ type, version: "1.0.0" });
      modules.publish(`acme/${type}/aws`, "1.0.0", "https://nowhere.example/");
    }
    registry.requests.clear();
    const atOnce = async (ask: (one: RunningMirror, type: string) => unknown) =>
      Promise.all(
        types.flatMap((type) => replicas.map((one) => ask(one, type))),
      );
    await atOnce((one, type) => requestsFor(one, type).index());
    const listed = registry.requests.count("versions");
    const got = await atOnce(async (one, type) => {
      const answer = await requestsFor(one, type).version("1.0.0");
      return answer.status;
    });
    expect(new Set(got)).toEqual(new Set([200]));
    const path = (type: string) => `acme/${type}/aws/versions`;
    await atOnce((one, type) =>
      one.get(`/v1/modules/${moduleHost}/${path(type)}`),
    );
    const counted = types.map((type) => modules.count(path(type)));
    const most = replicas.length;
    expect(listed).toBeLessThanOrEqual(types.length * most);
    expect(Math.max(...counted)).toBeLessThanOrEqual(most);
    // The lists are in the bucket now.
    const [late] = await scene.start({ bucket });
    if (late === undefined) throw new Error("none");
    registry.requests.clear();
    for (const type of types) await requestsFor(late, type).index();
    expect(registry.requests.count("versions")).toBe(0);
  }, 60_000);

  it("is the h1 of an archive, and another one raises an alarm and is never published", async () => {
    const settings = await scene.makeBucket();
    const bucket = new Bucket(settings, bucketLimits);
    const [one] = await scene.start({ bucket: settings });
    if (one === undefined) throw new Error("none");
    const [good, forged] = [
      await scene.registry.publish({ type: "hashed", version: "1.0.0" }),
      await scene.registry.publish({ type: "forged", version: "1.0.0" }),
    ];
    const key = hashKey(digestOf(forged));
    const lie = JSON.stringify({ hash: `h1:${"A".repeat(43)}=` });
    const sealed = seal(key, { revision: 0, body: lie });
    await bucket.put(recordObject(key), sealed);
    for (const type of ["hashed", "forged"])
      expect((await requestsFor(one, type).archive("1.0.0")).status).toBe(200);
    const kept = await eventually(
      () => readObject(bucket, recordObject(hashKey(digestOf(good)))),
      (text) => text.length > 0,
    );
    const [, hash = "none"] = /"hash":"(h1:[^"]+)"/.exec(String(kept)) ?? [];
    const hashed = await requestsFor(one, "hashed").version("1.0.0");
    expect(hashed.body.toString()).toContain(hash);
    await eventually(
      () => countAlarms(one, "package-hash-conflict"),
      (alarms) => alarms === 1,
    );
    const said = await requestsFor(one, "forged").version("1.0.0");
    expect(said.body.toString()).not.toContain(`h1:${"A".repeat(43)}=`);
    expect(digestsIn(said)).toBeDefined();
    expect(await readObject(bucket, recordObject(key))).toEqual(
      Buffer.from(sealed),
    );
    await bucket.close();
  }, 60_000);

  it("is what they used of late, by which archives leave a disk", async () => {
    const bucket = await scene.makeBucket();
    const publish = (type: string) =>
      scene.registry.publish({ type, version: "1.0.0", size: 400_000 });
    const [used, idle, last] = [
      await publish("used"),
      await publish("idle"),
      await publish("last"),
    ];
    const directory = scratch("small");
    const small = {
      directory,
      bucket,
      storage: { maxSize: "1000KiB", minFree: 0 },
    };
    const [one] = await scene.start(small);
    for (const release of [used, idle]) await keep(one, release);
    await one?.stop();
    const yesterday = Date.now() - 24 * 60 * 60 * 1000;
    const lines = [used, idle].map((release, order) => {
      const at = yesterday + order * 1_000;
      utimesSync(fileOf(directory, release), at / 1_000, at / 1_000);
      return `${digestOf(release)} ${at} u\n`;
    });
    const journal = join(directory, "last-use.v1.log");
    writeFileSync(journal, lines.join(""));
    const [other] = await scene.start({ bucket });
    await keep(other, used);
    await other?.stop();
    const [again] = await scene.start(small);
    const notes = () => readFileSync(journal, "utf8").split(digestOf(used));
    await expect.poll(notes, { timeout: 20_000 }).toHaveLength(3);
    await keep(again, last);
    const kept = [used, idle, last].map((release) =>
      existsSync(fileOf(directory, release)),
    );
    expect(kept).toEqual([true, false, true]);
  }, 60_000);
});
