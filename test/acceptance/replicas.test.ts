import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import type { Sha256 } from "../../src/address/hash.ts";
import type { BucketSettings } from "../../src/store/bucket/bucket-settings.ts";
import { Bucket } from "../../src/store/bucket/bucket.ts";
import { blobObject, recordObject } from "../../src/store/layout.ts";
import { startBucketProxy } from "../fakes/bucket-proxy.ts";
import { bucketLimits, canRunCeph } from "../fakes/ceph.ts";
import { canFakeTime, fakeTime } from "../fakes/fake-time.ts";
import type { RunningMirror } from "../running-mirror.ts";
import {
  countAlarms,
  digestsIn,
  eventually,
  outcomeOf,
  requestsFor,
  runCommand,
} from "../scenes/provider-requests.ts";
import {
  env,
  readObject,
  sha256Of,
  startReplicaScene,
  type ReplicaScene,
} from "../scenes/replica-scene.ts";

const hasCeph = await canRunCeph();
let scene: ReplicaScene;

type Pair = readonly [RunningMirror, RunningMirror];

async function startPair(bucket?: BucketSettings): Promise<Pair> {
  return (await scene.start({ count: 2, bucket })) as unknown as Pair;
}

describe.runIf(hasCeph)("replicas on one bucket", () => {
  beforeAll(async () => {
    scene = await startReplicaScene();
  }, 120_000);
  afterEach(() => scene.stopReplicas());
  afterAll(() => scene.stop());

  it("have from the bucket what another one fetched, also when the origin is gone and offers another content", async () => {
    const [one, other] = await startPair();
    const release = await scene.registry.publish({
      type: "shared",
      version: "1.0.0",
      size: 300_000,
    });
    const first = requestsFor(one, "shared");
    const second = requestsFor(other, "shared");
    expect((await first.archive("1.0.0")).status).toBe(200);
    await scene.registry.publish({
      type: "shared",
      version: "1.0.0",
      size: 300_000,
      seed: "created again",
    });
    const { requests } = scene.registry;
    const asked = requests.count("archive");
    const got = await eventually(
      () => second.archive("1.0.0"),
      ({ status }) => status === 200,
    );
    expect(got.body.equals(release.archive("linux_amd64").bytes)).toBe(true);
    expect(digestsIn(await second.version("1.0.0"))).toEqual(
      digestsIn(await first.version("1.0.0")),
    );
    expect(requests.count("archive")).toBe(asked);
  });

  it("all count a revocation and an approval within 2 s", async () => {
    const [one, other] = await startPair();
    const release = await scene.registry.publish({
      type: "decided",
      version: "1.0.0",
    });
    const ask = requestsFor(other, "decided");
    expect((await ask.version("1.0.0")).status).toBe(200);
    expect((await requestsFor(one, "decided").version("1.0.0")).status).toBe(
      200,
    );
    const { fingerprint } = release.signer;
    for (const [decision, outcome] of [
      ["revoke", "451 key-refused"],
      ["approve", "200"],
    ] as const) {
      const run = await runCommand(
        { configFile: one.configFile, env },
        ...[
          "trust",
          decision,
          "--key",
          fingerprint,
          "--for",
          "registry.terraform.io/acme",
        ],
      );
      expect(run).toMatchObject({ status: 0 });
      await eventually(
        async () => outcomeOf(await ask.version("1.0.0")),
        (now) => now === outcome,
        2_000,
      );
    }
  });

  it("ask the bucket for nothing that they have, but for its epoch and their log, and four times at most for an archive that no replica has", async () => {
    const proxy = await startBucketProxy(await scene.makeBucket());
    const [one] = await scene.start({ bucket: proxy.settings });
    if (one === undefined) throw new Error("none");
    await scene.registry.publish({ type: "counted", version: "1.0.0" });
    const ask = requestsFor(one, "counted");
    await ask.index();
    await ask.version("1.0.0");
    const count = async (work: () => Promise<unknown>) => {
      proxy.asked.length = 0;
      await work();
      return proxy.asked.filter((asked) => !/ (?:epoch|audit)/.test(asked));
    };
    const cold = await count(async () => {
      expect((await ask.archive("1.0.0")).status).toBe(200);
      await expect
        .poll(() => proxy.asked.some((asked) => asked.startsWith("PUT blobs/")))
        .toBe(true);
    });
    expect(cold.length).toBeLessThanOrEqual(4);
    // Its own notes changed the epoch, after which it looks at them once.
    await expect
      .poll(() =>
        count(async () => {
          await ask.index();
          await ask.version("1.0.0");
          await ask.archive("1.0.0");
        }),
      )
      .toEqual([]);
    await proxy.stop();
  });

  it.runIf(canFakeTime).each([
    ["+5m", true],
    ["-5m", true],
    ["+20m", true],
    ["+20s", false],
  ])(
    "whose clock is off by %s warn from 30 s on, admit no release before its time, and serve archives",
    async (offset, isTold) => {
      const bucket = await scene.makeBucket();
      const config = {
        policy: { minimumAge: "4m" },
        freshness: { versions: "1ms" },
      };
      const [right] = await scene.start({ bucket, config });
      const env = await fakeTime(offset);
      const [wrong] = await scene.start({ bucket, config, env });
      if (right === undefined || wrong === undefined) throw new Error("none");
      const provider = {
        type: `aged${offset.replace("+", "p")}`,
        signedAt: new Date(Date.now() - 3_600_000),
      };
      await scene.registry.publish({ ...provider, version: "1.0.0" });
      expect((await requestsFor(right, provider.type).index()).status).toBe(
        200,
      );
      await scene.registry.publish({ ...provider, version: "1.1.0" });
      for (const mirror of [right, wrong])
        expect(
          outcomeOf(await requestsFor(mirror, provider.type).version("1.1.0")),
        ).toBe("451 too-young");
      const health = (await wrong.get("/healthz")).body.toString();
      const clockWarning = /clock is over 30 s (ahead of|behind) the bucket's/;
      expect(clockWarning.test(health)).toBe(isTold);
      const alarms = await countAlarms(wrong, "bucket-failing");
      expect(alarms).toBe(isTold ? 1 : 0);
      const got = await Promise.all(
        [wrong, right].map((mirror) =>
          requestsFor(mirror, provider.type).archive("1.0.0"),
        ),
      );
      expect(got.map(outcomeOf)).toEqual(["200", "200"]);
    },
  );

  it("begin nothing in a bucket that was wiped under them, and serve what they know", async () => {
    const settings = await scene.makeBucket();
    const [one] = await scene.start({ bucket: settings });
    if (one === undefined) throw new Error("none");
    const known = requestsFor(one, "wiped");
    const release = await scene.registry.publish({
      type: "wiped",
      version: "1.0.0",
    });
    expect((await known.archive("1.0.0")).status).toBe(200);
    const bucket = new Bucket(settings, bucketLimits);
    await scene.awaitBrought(settings, release);
    for await (const { key } of bucket.list("")) await bucket.delete(key);
    await eventually(
      async () => (await one.get("/healthz")).body.toString(),
      (body) => body.includes("epoch.json is gone"),
    );
    expect((await known.version("1.0.0")).status).toBe(200);
    expect((await known.archive("1.0.0")).status).toBe(200);
    await scene.registry.publish({ type: "unknown", version: "1.0.0" });
    const unknown = await requestsFor(one, "unknown").version("1.0.0");
    expect(outcomeOf(unknown)).toBe("503 bucket-foreign");
    const left = [];
    // An h1 that was on its way while the bucket was wiped begins no store.
    for await (const { key } of bucket.list(""))
      if (!key.includes("/package-hashes/")) left.push(key);
    expect(left).toEqual([]);
    await bucket.close();
  });

  it("give no client a whole archive that the bucket lies about, and replace it", async () => {
    const settings = await scene.makeBucket();
    const [one, other] = await startPair(settings);
    const release = await scene.registry.publish({
      type: "lied",
      version: "1.0.0",
      size: 300_000,
    });
    const { sha256, bytes } = release.archive("linux_amd64");
    expect((await requestsFor(one, "lied").archive("1.0.0")).status).toBe(200);
    await scene.awaitBrought(settings, release);
    const bucket = new Bucket(settings, bucketLimits);
    const key = blobObject(sha256 as Sha256);
    await bucket.put(key, Buffer.alloc(bytes.length, 1));
    const cut = await requestsFor(other, "lied").archive("1.0.0");
    expect([cut.status, cut.complete]).toEqual([451, true]);
    const healed = await eventually(
      () => requestsFor(other, "lied").archive("1.0.0"),
      ({ complete }) => complete,
    );
    expect(healed.body.equals(bytes)).toBe(true);
    expect(await countAlarms(other, "archive-tampered")).toBe(1);
    await eventually(
      async () => sha256Of(await readObject(bucket, key)),
      (digest) => digest === sha256,
    );
    await bucket.close();
  });

  it("notice a revocation that was taken back in the bucket", async () => {
    const settings = await scene.makeBucket();
    const [one] = await scene.start({ bucket: settings });
    if (one === undefined) throw new Error("none");
    const release = await scene.registry.publish({
      type: "set-back",
      version: "1.0.0",
    });
    const ask = requestsFor(one, "set-back");
    expect((await ask.version("1.0.0")).status).toBe(200);
    const bucket = new Bucket(settings, bucketLimits);
    const decide = (decision: string, fingerprint: string) =>
      runCommand(
        { configFile: one.configFile, env },
        ...["trust", decision, "--key", fingerprint],
        ...["--for", "registry.terraform.io/acme"],
      );
    // In advance, so that there is a record to set back to.
    expect(await decide("revoke", "A".repeat(40))).toMatchObject({
      status: 0,
    });
    const key = recordObject([
      "trust",
      "namespaces",
      "registry.terraform.io",
      "acme",
    ]);
    const before = await readObject(bucket, key);
    expect(await decide("revoke", release.signer.fingerprint)).toMatchObject({
      status: 0,
    });
    await eventually(
      async () => outcomeOf(await ask.version("1.0.0")),
      (outcome) => outcome === "451 key-refused",
    );
    await bucket.put(key, before);
    await one.stop();
    const [again] = await scene.start({
      bucket: settings,
      directory: one.directory,
    });
    if (again === undefined) throw new Error("none");
    const after = requestsFor(again, "set-back");
    expect(outcomeOf(await after.version("1.0.0"))).toBe(
      "503 record-unreadable",
    );
    expect(await countAlarms(again, "record-unreadable")).toBe(1);
    await bucket.close();
  });
});
