import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { bearer, issueToken } from "../client-token.ts";
import type { Sha256 } from "../../src/address/hash.ts";
import type { BucketSettings } from "../../src/store/bucket/bucket-settings.ts";
import { Bucket } from "../../src/store/bucket/bucket.ts";
import { blobObject, recordObject } from "../../src/store/layout.ts";
import { bucketLimits } from "../fakes/loose-bucket.ts";
import { tarGz } from "../fakes/module-archive.ts";
import { startRegistry } from "../fakes/registry.ts";
import { originsOf } from "../origins.ts";
import type { RunningMirror } from "../running-mirror.ts";
import {
  countAlarms,
  digestsIn,
  eventually,
  outcomeOf,
  readAudit,
  requestsFor,
  runCommand,
} from "../scenes/provider-requests.ts";
import {
  countWaiting,
  env,
  moduleHost,
  readObject,
  sha256Of,
  startReplicaScene,
  type ReplicaScene,
} from "../scenes/replica-scene.ts";

const ci = issueToken("ci");
let scene: ReplicaScene;

type Pair = readonly [RunningMirror, RunningMirror];

async function startPair(bucket?: BucketSettings): Promise<Pair> {
  return (await scene.start({ count: 2, bucket })) as unknown as Pair;
}

describe("replicas on one bucket", () => {
  beforeAll(async () => {
    scene = await startReplicaScene();
  });
  afterEach(async () => {
    scene.bucket.intercept = () => undefined;
    scene.bucket.ahead = 0;
    await scene.stopReplicas();
  });

  it("have from the bucket what another one fetched, also when the origin is gone and offers another content", async () => {
    const [one, other] = await startPair();
    const release = await scene.registry.publish({
      type: "shared",
      version: "1.0.0",
      size: 300_000,
    });
    const first = requestsFor(one, "shared");
    const second = requestsFor(other, "shared");
    expect(await first.delivery("1.0.0")).toBe("200");
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
    expect(await ask.outcome("1.0.0")).toBe("200");
    expect(await requestsFor(one, "decided").outcome("1.0.0")).toBe("200");
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
        () => ask.outcome("1.0.0"),
        (now) => now === outcome,
        2_000,
      );
    }
  });

  it("ask the bucket for nothing that they have, but for its epoch and their log, and four times at most for an archive that no replica has", async () => {
    const { asked: all } = scene.bucket;
    const [one] = await scene.start();
    if (one === undefined) throw new Error("none");
    await scene.registry.publish({ type: "counted", version: "1.0.0" });
    const ask = requestsFor(one, "counted");
    await ask.index();
    await ask.version("1.0.0");
    const count = async (work: () => Promise<unknown>) => {
      all.length = 0;
      await work();
      return all.filter((asked) => !/ (?:epoch|audit)/.test(asked));
    };
    const cold = await count(async () => {
      expect(await ask.delivery("1.0.0")).toBe("200");
      await expect
        .poll(() => all.some((asked) => asked.startsWith("PUT blobs/")))
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
  });

  it.each([
    [300_000, true],
    [-300_000, true],
    [20_000, false],
  ])(
    "whose clock is %i ms off the bucket's warn from 30 s on, and serve",
    async (ahead, isTold) => {
      scene.bucket.ahead = ahead;
      const [one] = await scene.start();
      if (one === undefined) throw new Error("none");
      const type = `aged${ahead}`.replace("-", "p");
      await scene.registry.publish({ type, version: "1.0.0" });
      const got = await requestsFor(one, type).archive("1.0.0");
      expect(outcomeOf(got)).toBe("200");
      const health = (await one.get("/healthz")).body.toString();
      const clockWarning = /clock is over 30 s (ahead of|behind) the bucket's/;
      expect(clockWarning.test(health)).toBe(isTold);
      const alarms = await countAlarms(one, "bucket-failing");
      expect(alarms).toBe(isTold ? 1 : 0);
    },
  );

  it("begin nothing in a bucket that was wiped under them, and serve what they know", async () => {
    const settings = scene.makePart();
    const [one] = await scene.start({ bucket: settings });
    if (one === undefined) throw new Error("none");
    const known = requestsFor(one, "wiped");
    const release = await scene.registry.publish({
      type: "wiped",
      version: "1.0.0",
    });
    expect(await known.delivery("1.0.0")).toBe("200");
    const bucket = new Bucket(settings, bucketLimits);
    await scene.awaitBrought(settings, release);
    for await (const { key } of bucket.list("")) await bucket.delete(key);
    await eventually(
      async () => (await one.get("/healthz")).body.toString(),
      (body) => body.includes("epoch.json is gone"),
    );
    expect(await known.outcome("1.0.0")).toBe("200");
    expect(await known.delivery("1.0.0")).toBe("200");
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
    const settings = scene.makePart();
    const [one, other] = await startPair(settings);
    const release = await scene.registry.publish({
      type: "lied",
      version: "1.0.0",
      size: 300_000,
    });
    const { sha256, bytes } = release.archive("linux_amd64");
    expect(await requestsFor(one, "lied").delivery("1.0.0")).toBe("200");
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
    const settings = scene.makePart();
    const [one] = await scene.start({ bucket: settings });
    if (one === undefined) throw new Error("none");
    const release = await scene.registry.publish({
      type: "set-back",
      version: "1.0.0",
    });
    const ask = requestsFor(one, "set-back");
    expect(await ask.outcome("1.0.0")).toBe("200");
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
      () => ask.outcome("1.0.0"),
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
    expect(await after.outcome("1.0.0")).toBe("503 record-unreadable");
    expect(await countAlarms(again, "record-unreadable")).toBe(1);
    await bucket.close();
  });

  it("serve with one archive URL on all, and fetch a module once", async () => {
    const auth = { tokens: [ci.configured] };
    const replicas = await scene.start({
      count: 2,
      bucket: scene.makePart(),
      config: { auth, publicUrl: "https://mirror.example.com/" },
    });
    await scene.registry.publish({ type: "signed", version: "1.0.0" });
    const bytes = await tarGz([["main.tf", "# a module"]]);
    const { modules } = scene;
    const { objects } = scene.bucket;
    const url = modules.serve("/files/shared.tar.gz", bytes);
    modules.publish("acme/shared/aws", "1.0.0", url);
    const base = "/providers/registry.terraform.io/acme/signed/";
    const module = `/v1/modules/${moduleHost}/acme/shared/aws/1.0.0/download`;
    for (const [at, mirror] of replicas.entries()) {
      const answer = await mirror.get(`${base}1.0.0.json`, bearer(ci.token));
      const { archives } = answer.json() as {
        archives: Record<string, { url: string }>;
      };
      const path = base + (archives.linux_amd64?.url ?? "");
      const other = replicas[1 - at] ?? mirror;
      expect((await other.get(path)).status).toBe(200);
      const found = await mirror.get(module, bearer(ci.token));
      const location = new URL(String(found.headers["x-terraform-get"]));
      const archive = await other.get(location.pathname + location.search);
      expect(archive.body.equals(bytes)).toBe(true);
      // The next replica has it from the bucket.
      await expect
        .poll(() => [...objects.values()].some((one) => one.equals(bytes)))
        .toBe(true);
    }
    const unsigned = `${base}terraform-provider-signed_1.0.0_linux_amd64.zip`;
    for (const mirror of replicas)
      expect((await mirror.get(unsigned)).status).toBe(401);
    expect(modules.count("/files/shared.tar.gz")).toBe(1);
  });

  it("have one first content of a release that origins offer differently", async () => {
    const bucket = scene.makePart();
    const elsewhere = await startRegistry({ authority: scene.authority });
    const config = originsOf(scene.authority, elsewhere);
    const [here, there] = [
      await scene.start({ bucket }),
      await scene.start({ bucket, config }),
    ];
    const all = [...here, ...there];
    let alarms = 0;
    for (let round = 0; round < 3; round++) {
      const type = `differing-${round}`;
      for (const registry of [scene.registry, elsewhere])
        await registry.publish({
          type,
          version: "1.0.0",
          seed: registry === elsewhere ? "other" : "one",
        });
      const ask = () =>
        Promise.all(
          all.map((mirror) => requestsFor(mirror, type).version("1.0.0")),
        );
      await ask();
      const digests = (await ask()).map((answer) => digestsIn(answer));
      expect(digests[0]).toHaveProperty("linux_amd64");
      expect(digests[1]).toEqual(digests[0]);
      const first = all
        .flatMap((mirror) => readAudit(mirror))
        .filter(
          ({ event, provider }) =>
            event === "first-seen" && provider?.endsWith(`/${type}`),
        );
      // A replica that reads a pin before its line is written writes that line, too.
      expect(new Set(first.map(({ detail }) => detail)).size).toBe(1);
    }
    for (const mirror of all)
      alarms += await countAlarms(mirror, "release-replaced");
    expect(alarms).toBeGreaterThan(0);
    await elsewhere.stop();
  });

  it.each<[string, (asked: string) => Promise<void> | number | void, RegExp]>([
    ["hangs", () => new Promise(() => undefined), /^503 bucket-unreachable$/],
    ["answers 503", () => 503, /^503 bucket-unreachable$/],
    ["is gone", () => Promise.reject(new Error("gone")), /^503 bucket-unre/],
    [
      "takes no writes",
      (asked) => (asked.startsWith("PUT") ? 403 : undefined),
      /^503 bucket-refuses$/,
    ],
  ])(
    "serve what they know while it %s, refuse new releases, and upload everything later",
    async (what, intercept, outcome) => {
      const type = what.replaceAll(" ", "-");
      const [one, other] = await startPair();
      const known = requestsFor(one, type);
      const unknown = () => requestsFor(one, `${type}-new`).version("1.0.0");
      for (const version of ["1.0.0", "1.1.0"])
        await scene.registry.publish({ type, version, size: 300_000 });
      await scene.registry.publish({ type: `${type}-new`, version: "1.0.0" });
      expect(await known.delivery("1.0.0")).toBe("200");
      expect(await known.outcome("1.1.0")).toBe("200");
      await eventually(
        () => countWaiting(one),
        (waiting) => waiting === 0,
      );
      scene.bucket.intercept = intercept;
      const late = await known.archive("1.1.0");
      expect([late.status, late.complete]).toEqual([200, true]);
      const refused = await unknown();
      expect(outcomeOf(refused)).toMatch(outcome);
      expect(refused.headers["retry-after"]).toMatch(/^[1-5]$/);
      for (const ask of [
        () => known.index(),
        () => known.version("1.0.0"),
        () => known.archive("1.0.0"),
      ])
        expect((await ask()).status).toBe(200);
      expect((await one.get("/readyz")).status).toBe(200);
      // The client had it before the disk had.
      await eventually(
        () => countWaiting(one),
        (waiting) => waiting === 1,
      );
      await eventually(
        () => countAlarms(one, "bucket-failing"),
        (alarms) => alarms === 1,
      );
      scene.bucket.intercept = () => undefined;
      await eventually(
        () => countWaiting(one),
        (waiting) => waiting === 0,
      );
      expect(await countAlarms(one, "audit-lost")).toBe(0);
      const { requests } = scene.registry;
      const asked = requests.count("archive");
      const brought = await eventually(
        () => requestsFor(other, type).archive("1.1.0"),
        ({ status }) => status === 200,
      );
      expect(brought.body.equals(late.body)).toBe(true);
      expect(requests.count("archive")).toBe(asked);
      await eventually(unknown, ({ status }) => status === 200);
    },
  );
});
