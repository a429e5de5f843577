import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bodyOf } from "../../src/store/bucket/bucket-connection.ts";
import type { BucketSettings } from "../../src/store/bucket/bucket-settings.ts";
import { Bucket } from "../../src/store/bucket/bucket.ts";
import { auditObjects } from "../../src/store/layout.ts";
import { startBucketProxy } from "../fakes/bucket-proxy.ts";
import { bucketLimits, canRunCeph } from "../fakes/ceph.ts";
import type { RunningMirror } from "../running-mirror.ts";
import {
  countAlarms,
  eventually,
  outcomeOf,
  readAudit,
  requestsFor,
  runCommand,
  type AuditLine,
} from "../scenes/provider-requests.ts";
import {
  env,
  readObject,
  startReplicaScene,
  type ReplicaScene,
} from "../scenes/replica-scene.ts";

let scene: ReplicaScene;

function audit({ configFile }: RunningMirror, ...args: readonly string[]) {
  return runCommand({ configFile, env }, "audit", ...args);
}

async function readAll(
  mirror: RunningMirror,
  ...args: readonly string[]
): Promise<readonly AuditLine[]> {
  const { stdout } = await audit(mirror, "--json", ...args);
  return (JSON.parse(stdout) as { entries: AuditLine[] }).entries;
}

/** The names of the objects that have the lines of a log. */
async function listSegments(bucket: Bucket): Promise<readonly string[]> {
  const names: string[] = [];
  for await (const { key } of bucket.list(auditObjects))
    if (key.endsWith(".jsonl")) names.push(key);
  return names;
}

async function startTwo(one: BucketSettings, other: BucketSettings) {
  const [first] = await scene.start({ bucket: one });
  const [second] = await scene.start({ bucket: other });
  if (first === undefined || second === undefined) throw new Error("none");
  return [first, second] as const;
}

const key = "A".repeat(40);

function revoke(what: string): readonly string[] {
  return ["trust", "revoke", "--key", key, what];
}

/** Commands that decide something, and what the audit log calls it. */
function decisions(type: string) {
  const address = `registry.terraform.io/acme/${type}`;
  const platform = ["--platform", "linux_amd64"];
  return [
    {
      args: ["prefetch", ...platform, `${address}@1.0.0`],
      event: "first-seen",
    },
    { args: revoke("registry.terraform.io/other"), event: "revoked" },
    {
      args: ["trust", "approve", "--key", key, "registry.terraform.io/other"],
      event: "approved",
    },
    {
      args: ["trust", "approve", "--ahead", "--key", key, `${address}@2.0.0`],
      event: "approved",
    },
    { args: ["trust", "revoke", `${address}@2.0.0`], event: "revoked" },
  ];
}

describe.runIf(await canRunCeph())("the audit log of replicas", () => {
  beforeAll(async () => {
    scene = await startReplicaScene();
  }, 120_000);
  afterAll(() => scene.stop());

  it("is read and verified beside any of them, also of those that are gone, and shows what was changed in the bucket", async () => {
    const settings = await scene.makeBucket();
    const [one, other] = await startTwo(settings, settings);
    await scene.registry.publish({ type: "told", version: "1.0.0" });
    const ask = requestsFor(one, "told");
    expect(outcomeOf(await ask.version("1.0.0"))).toBe("200");
    // A decision is there before its answer, and so nobody waits.
    const seen = await readAll(other, "acme/told", "--event", "first-seen");
    expect(seen).toHaveLength(1);
    expect(outcomeOf(await ask.archive("1.0.0"))).toBe("200");
    await one.stop();
    const served = await readAll(other, "acme/told", "--event", "served");
    expect(served).toHaveLength(1);
    const own = readAudit(one);
    expect(await readAll(other)).toEqual(expect.arrayContaining([...own]));

    const good = await audit(other, "--verify");
    expect([good.status, good.stdout]).toEqual([
      0,
      expect.stringMatching(
        /^[0-9a-f]{16}\/decisions\.jsonl: \d+ chained lines, .*: nothing/m,
      ),
    ]);
    const bucket = new Bucket(settings, bucketLimits);
    for (const [index, name] of (await listSegments(bucket)).entries()) {
      const was = (await readObject(bucket, name)).toString();
      const changed = was.replace(/"event":"/, '"event":"x');
      if (index % 2 === 0) await bucket.put(name, bodyOf(changed));
      else await bucket.delete(name);
      const { status, stdout } = await audit(other, "--verify");
      expect(status).toBe(1);
      expect(stdout).toMatch(/^[0-9a-f]{16}\/\w+\.jsonl:\d+: \w+: this line/m);
      await bucket.put(name, bodyOf(was));
    }
    expect((await audit(other, "--verify")).status).toBe(0);
    await bucket.close();
  }, 120_000);

  it("has every line once the bucket is back, whatever it failed at and whoever was killed, and is one's own meanwhile", async () => {
    const settings = await scene.makeBucket();
    const proxy = await startBucketProxy(settings);
    const [one, other] = await startTwo(proxy.settings, settings);
    await scene.registry.publish({ type: "away", version: "1.0.0" });
    const ask = requestsFor(one, "away");
    expect(outcomeOf(await ask.archive("1.0.0"))).toBe("200");
    // The lines are written, and nobody hears of it.
    proxy.intercept = (step, asked) =>
      step === "done" && asked.startsWith("PUT audit/") ? 503 : undefined;
    await scene.registry.publish({ type: "unheard", version: "1.0.0" });
    const unheard = requestsFor(one, "unheard");
    expect(outcomeOf(await unheard.version("1.0.0"))).toBe("200");
    proxy.intercept = () => 503;
    await eventually(
      async () => (await one.get("/healthz")).body.toString(),
      (body) => body.includes("degraded"),
    );
    expect(outcomeOf(await ask.archive("1.0.0"))).toBe("200");
    const alone = await audit(one, "--event", "first-seen");
    expect(alone.stderr).toContain("logs of other replicas are not read");
    expect(alone.stdout.trim().split("\n")).toHaveLength(2);
    expect((await audit(one, "--verify")).status).not.toBe(0);
    await one.kill();
    proxy.intercept = () => undefined;
    const [again] = await scene.start({
      bucket: proxy.settings,
      directory: one.directory,
    });
    await again?.stop();
    const lines = readAudit(one);
    expect(lines.filter(({ event }) => event === "served")).toHaveLength(2);
    expect(await readAll(other)).toEqual(expect.arrayContaining([...lines]));
    expect(await audit(other, "--verify")).toMatchObject({ status: 0 });
    await proxy.stop();
  }, 120_000);

  it("has what a command decides before the command is done, with no daemon beside it", async () => {
    const settings = await scene.makeBucket();
    const [one, other] = await startTwo(settings, settings);
    await one.stop();
    await scene.registry.publish({ type: "ahead", version: "1.0.0" });
    const decided = [];
    for (const { args, event } of decisions("ahead")) {
      const { status, stderr } = await runCommand(
        { configFile: one.configFile, env },
        ...args,
      );
      expect([args, status, stderr]).toEqual([args, 0, expect.any(String)]);
      decided.push(event);
      const entries = await readAll(other);
      expect(entries.map((entry) => entry.event)).toEqual(
        expect.arrayContaining(decided),
      );
    }
    expect(await readAll(other)).toEqual(
      expect.arrayContaining([...readAudit(one)]),
    );
    expect((await audit(other, "--verify")).status).toBe(0);
  }, 120_000);

  it("has each line once that commands and a daemon of one directory bring at once", async () => {
    const settings = await scene.makeBucket();
    const [one, other] = await startTwo(settings, settings);
    const types = Array.from({ length: 6 }, (_, n) => `beside-${n}`);
    for (const type of types)
      await scene.registry.publish({ type, version: "1.0.0" });
    const all = types.flatMap((type) => [
      requestsFor(one, type).version("1.0.0").then(outcomeOf),
      runCommand(
        { configFile: one.configFile, env },
        ...revoke(`registry.terraform.io/${type}`),
      ).then(({ status }) => status),
    ]);
    expect(await Promise.all(all)).toEqual(types.flatMap(() => ["200", 0]));
    const written = readAudit(one);
    expect(written.filter(({ event }) => event === "revoked")).toHaveLength(6);
    const found = await readAll(other);
    expect(found.filter(({ event }) => event === "revoked")).toHaveLength(6);
    const good = await audit(other, "--verify");
    expect([good.status, good.stdout]).toEqual([0, expect.any(String)]);
  }, 120_000);

  it("fails a command whose decision stands while its line waits, and has it with the next one", async () => {
    const settings = await scene.makeBucket();
    const proxy = await startBucketProxy(settings);
    const [one, other] = await startTwo(proxy.settings, settings);
    await one.stop();
    const run = (...args: readonly string[]) =>
      runCommand({ configFile: one.configFile, env }, ...args);
    proxy.intercept = (step, asked) =>
      step === "asked" && asked.startsWith("PUT audit/") ? 503 : undefined;
    const failed = await run(...revoke("registry.terraform.io/waits"));
    expect(failed.status).toBe(1);
    expect(failed.stderr).toMatch(
      /^provender: What was decided stands, but its lines in the audit log are not in the bucket yet \(.*\): keep /m,
    );
    const list = await run("trust", "list");
    expect([list.status, list.stdout]).toEqual([
      0,
      expect.stringContaining("waits"),
    ]);
    const events = async () =>
      (await readAll(other, "--event", "revoked")).map(
        ({ provider }) => provider,
      );
    expect(await events()).toEqual([]);
    proxy.intercept = () => undefined;
    await run(...revoke("registry.terraform.io/next"));
    expect(await events()).toEqual([
      "registry.terraform.io/waits",
      "registry.terraform.io/next",
    ]);
    expect((await audit(other, "--verify")).status).toBe(0);
    await proxy.stop();
  }, 120_000);

  it("raises an alarm for lines that left the disk before the bucket had them", async () => {
    const settings = await scene.makeBucket();
    const proxy = await startBucketProxy(settings);
    const [one, other] = await startTwo(proxy.settings, settings);
    const see = async (type: string) => {
      await scene.registry.publish({ type, version: "1.0.0" });
      expect(outcomeOf(await requestsFor(one, type).version("1.0.0"))).toBe(
        "200",
      );
    };
    const decided = join(one.directory, "audit", "decisions.jsonl");
    const countLines = () => readFileSync(decided, "utf8").split("\n").length;
    await see("kept");
    const kept = countLines();
    proxy.intercept = (step, asked) =>
      step === "asked" && asked.startsWith("PUT audit/") ? 503 : undefined;
    await see("lost");
    const entries = countLines() - kept;
    rmSync(decided);
    proxy.intercept = () => undefined;
    expect(await countAlarms(one, "audit-lost")).toBe(0);
    await see("after");
    expect(await countAlarms(one, "audit-lost")).toBe(1);
    await expect
      .poll(() => one.log.find(({ alarm }) => alarm === "audit-lost"))
      .toMatchObject({ entries });
    const seen = await readAll(other, "--event", "first-seen");
    expect(seen.map(({ provider }) => provider)).toEqual([
      "registry.terraform.io/acme/kept",
      "registry.terraform.io/acme/after",
    ]);
    const found = await audit(other, "--verify");
    expect(found.status).toBe(1);
    expect(found.stdout).toMatch(/^[0-9a-f]{16}\/decisions\.jsonl:\d+: \w+: /m);
    await proxy.stop();
  }, 120_000);
});
