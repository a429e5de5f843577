import { hash } from "node:crypto";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { bearer, issueToken } from "../client-token.ts";
import { tarGz } from "../fakes/module-archive.ts";
import { startRegistry, type PublishOptions } from "../fakes/registry.ts";
import { originsOf } from "../origins.ts";
import type { RunningMirror } from "../running-mirror.ts";
import {
  countAlarms,
  digestsIn,
  eventually,
  outcomeOf,
  readMetric,
  requestsFor,
  runCommand,
} from "../scenes/provider-requests.ts";
import { startReplicaScene } from "../scenes/replica-scene.ts";
import { moduleHost } from "../scenes/world.ts";

const ci = issueToken("ci");
const scene = await startReplicaScene();
afterEach(async () => {
  scene.bucket.intercept = () => undefined;
  await scene.stopReplicas();
});
afterAll(() => scene.stop());

async function startPair() {
  const pair = await scene.start({ count: 2 });
  return pair as unknown as readonly [RunningMirror, RunningMirror];
}

const publish = (type: string, more: Partial<PublishOptions> = {}) =>
  scene.registry.publish({ type, version: "1.0.0", ...more });

/** Until so many archives have yet to be brought into the bucket. */
const untilWaiting = (mirror: RunningMirror, count: number) =>
  expect.poll(() => readMetric(mirror, "provender_bucket_outbox")).toBe(count);

describe("replicas on one PostgreSQL", () => {
  it("have from the bucket what another one fetched, also when the origin is gone and offers another content", async () => {
    const [one, other] = await startPair();
    const release = await publish("shared", { size: 300_000 });
    const first = requestsFor(one, "shared");
    const second = requestsFor(other, "shared");
    expect(await first.delivery("1.0.0")).toBe("200");
    await untilWaiting(one, 0);
    await publish("shared", { size: 300_000, seed: "created again" });
    const { requests } = scene.registry;
    const asked = requests.count("archive");
    const got = await second.archive("1.0.0");
    expect(got.body.equals(release.archive("linux_amd64").bytes)).toBe(true);
    expect(digestsIn(await second.version("1.0.0"))).toEqual(
      digestsIn(await first.version("1.0.0")),
    );
    expect(requests.count("archive")).toBe(asked);
  });

  it("all count a revocation and an approval within 2 s", async () => {
    const [one, other] = await startPair();
    const release = await publish("decided");
    const ask = requestsFor(other, "decided");
    expect(await ask.outcome("1.0.0")).toBe("200");
    expect(await requestsFor(one, "decided").outcome("1.0.0")).toBe("200");
    const { fingerprint } = release.signer;
    for (const [decision, outcome] of [
      ["revoke", "451 key-refused"],
      ["approve", "200"],
    ] as const) {
      const scope = ["--for", "registry.terraform.io/acme"];
      const key = ["--key", fingerprint, ...scope];
      const run = await runCommand(one, "trust", decision, ...key);
      expect(run).toMatchObject({ status: 0 });
      await expect
        .poll(() => ask.outcome("1.0.0"), { timeout: 2_000 })
        .toBe(outcome);
    }
  });

  it("give no client a whole archive that the bucket lies about, and replace it", async () => {
    const [one, other] = await startPair();
    const release = await publish("lied", { size: 300_000 });
    const { sha256, bytes } = release.archive("linux_amd64");
    expect(await requestsFor(one, "lied").delivery("1.0.0")).toBe("200");
    const { objects } = scene.bucket;
    const key = scene.keyOf(release);
    await expect.poll(() => objects.has(key)).toBe(true);
    objects.set(key, Buffer.alloc(bytes.length, 1));
    const cut = await requestsFor(other, "lied").archive("1.0.0");
    expect([cut.status, cut.complete]).toEqual([451, true]);
    const healed = await eventually(
      () => requestsFor(other, "lied").archive("1.0.0"),
      ({ complete }) => complete,
    );
    expect(healed.body.equals(bytes)).toBe(true);
    expect(await countAlarms(other, "archive-tampered")).toBe(1);
    await expect
      .poll(() => hash("sha256", objects.get(key) ?? ""))
      .toBe(sha256);
  });

  it("serve with one archive URL on all, and fetch a module once", async () => {
    const auth = { tokens: [ci.configured] };
    const config = { auth, publicUrl: "https://mirror.example.com/" };
    const replicas = await scene.start({ count: 2, config });
    await publish("signed");
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
      // The next replica has it from the bucket.
      await expect
        .poll(() => [...objects.values()].some((one) => one.equals(bytes)), {
          timeout: 20_000,
        })
        .toBe(true);
      const archive = await other.get(location.pathname + location.search);
      expect(archive.body.equals(bytes)).toBe(true);
    }
    const unsigned = `${base}terraform-provider-signed_1.0.0_linux_amd64.zip`;
    for (const mirror of replicas)
      expect((await mirror.get(unsigned)).status).toBe(401);
    expect(modules.count("/files/shared.tar.gz")).toBe(1);
  });

  it("have one first content of a release that origins offer differently, of 50 that ask at once", async () => {
    const database = await scene.makeDatabase();
    const elsewhere = await startRegistry({ authority: scene.authority });
    const config = originsOf(scene.authority, elsewhere);
    const all = [
      ...(await scene.start({ database, count: 2 })),
      ...(await scene.start({ database, config })),
    ];
    for (const type of ["differing-1", "differing-2", "differing-3"]) {
      await publish(type, { seed: "one" });
      await elsewhere.publish({ type, version: "1.0.0", seed: "other" });
      const ask = (mirror: RunningMirror) =>
        requestsFor(mirror, type).version("1.0.0");
      const crowd = Array<typeof all>(17).fill(all).flat();
      const firsts = await Promise.all(crowd.map(ask));
      const later = await Promise.all(all.map(ask));
      const [digests] = later.map(digestsIn);
      expect(digests).toHaveProperty("linux_amd64");
      const given = firsts.filter(({ status }) => status === 200);
      for (const answer of [...given, ...later])
        expect(digestsIn(answer)).toEqual(digests);
    }
    const alarms = all.map((mirror) => countAlarms(mirror, "release-replaced"));
    expect(Math.max(...(await Promise.all(alarms)))).toBeGreaterThan(0);
    await elsewhere.stop();
  });

  it("serve what they have in memory while PostgreSQL is stopped, refuse the rest, and are well after that", async () => {
    const [one, other] = await startPair();
    for (const type of ["known", "unknown"]) await publish(type);
    const known = requestsFor(one, "known");
    const unknown = requestsFor(one, "unknown");
    expect(await known.delivery("1.0.0")).toBe("200");
    await known.index();
    expect(await known.outcome("1.0.0")).toBe("200");
    await scene.postgres.stop();
    const health = async () => (await one.get("/readyz")).body.toString();
    await expect.poll(health).toContain("The database ");
    expect(await known.outcome("1.0.0")).toBe("200");
    expect(await known.delivery("1.0.0")).toBe("200");
    const refused = await unknown.version("1.0.0");
    expect(outcomeOf(refused)).toBe("503 database-unreachable");
    expect(refused.headers["retry-after"]).toMatch(/^[1-5]$/);
    const cold = await requestsFor(other, "known").version("1.0.0");
    expect(outcomeOf(cold)).toBe("503 database-unreachable");
    expect(await countAlarms(one, "database-failing")).toBe(1);
    const log = JSON.stringify(one.log);
    expect(log).not.toContain("secret");
    await scene.postgres.start();
    await expect.poll(health).not.toContain("degraded");
    for (const ask of [known, unknown, requestsFor(other, "known")])
      await expect.poll(() => ask.outcome("1.0.0")).toBe("200");
  });

  it.each<[string, (asked: string) => Promise<void> | number | void]>([
    ["hangs", () => new Promise(() => undefined)],
    ["answers 503", () => 503],
    ["is gone", () => Promise.reject(new Error("gone"))],
    ["takes no writes", (asked) => (asked.startsWith("PUT") ? 403 : undefined)],
  ])(
    "do without the bucket while it %s, and upload everything later",
    async (what, intercept) => {
      const type = `without-${what.replaceAll(" ", "-")}`;
      const [one, other] = await startPair();
      scene.bucket.intercept = intercept;
      await publish(type, { size: 300_000 });
      const late = await requestsFor(one, type).archive("1.0.0");
      expect([late.status, late.complete]).toEqual([200, true]);
      await untilWaiting(one, 1);
      await expect.poll(() => countAlarms(one, "bucket-failing")).toBe(1);
      const readiness = await one.get("/readyz");
      expect(readiness.status).toBe(200);
      expect(readiness.body.toString()).toContain("degraded");
      scene.bucket.intercept = () => undefined;
      await untilWaiting(one, 0);
      const { requests } = scene.registry;
      const asked = requests.count("archive");
      const brought = await eventually(
        () => requestsFor(other, type).archive("1.0.0"),
        ({ status }) => status === 200,
      );
      expect(brought.body.equals(late.body)).toBe(true);
      await expect
        .poll(async () => (await one.get("/readyz")).body.toString())
        .not.toContain("degraded");
      expect(requests.count("archive")).toBeLessThanOrEqual(asked + 1);
    },
  );
});
