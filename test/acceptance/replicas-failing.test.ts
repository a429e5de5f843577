import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { effort } from "../effort.ts";
import { startBucketProxy, type BucketProxy } from "../fakes/bucket-proxy.ts";
import { canRunCeph } from "../fakes/ceph.ts";
import type { RunningMirror } from "../running-mirror.ts";
import {
  countAlarms,
  eventually,
  outcomeOf,
  readAudit,
  requestsFor,
} from "../scenes/provider-requests.ts";
import {
  countWaiting,
  sha256Of,
  startReplicaScene,
  type ReplicaScene,
} from "../scenes/replica-scene.ts";

/** Seconds for which the bucket fails, of the minute that it is to be. */
const lasting = effort > 1 ? 60 : 2;

let scene: ReplicaScene;

interface Outage {
  readonly what: string;
  readonly fail: (proxy: BucketProxy) => Promise<void> | void;
  readonly heal: () => Promise<void> | void;
  /** Outcome of requests for something that no replica has recorded. */
  readonly outcome: RegExp;
}

const outages: readonly Outage[] = [
  {
    what: "hangs",
    fail: () => scene.ceph.suspend(),
    heal: () => scene.ceph.resume(),
    outcome: /^503 bucket-unreachable$/,
  },
  {
    what: "answers 503",
    fail: (proxy) => void (proxy.intercept = () => 503),
    heal: () => undefined,
    outcome: /^503 bucket-unreachable$/,
  },
  {
    what: "takes 1.5 s for an answer",
    fail: (proxy) =>
      void (proxy.intercept = (step) =>
        step === "asked" ? delay(1_500) : undefined),
    heal: () => undefined,
    outcome: /^(?:200|503 .*)$/,
  },
  // Last, since Ceph takes half a minute to make buckets again after a crash.
  {
    what: "is gone",
    fail: () => scene.ceph.killGateway(),
    heal: () => scene.ceph.startGateway(),
    outcome: /^503 bucket-unreachable$/,
  },
];

/** Requests until `until`; counts each status and the longest wait for something new. */
async function askDuring(
  mirror: RunningMirror,
  type: string,
  until: () => boolean,
) {
  const known = requestsFor(mirror, type);
  const outcomes = new Set<string>();
  const refused = new Set<string>();
  let longest = 0;
  let archives = 0;
  await scene.registry.publish({ type: `${type}-new`, version: "1.0.0" });
  do {
    for (const answer of await Promise.all([
      known.index(),
      known.version("1.0.0"),
      known.archive("1.0.0"),
    ]))
      outcomes.add(outcomeOf(answer));
    archives++;
    const began = performance.now();
    const unknown = await requestsFor(mirror, `${type}-new`).version("1.0.0");
    longest = Math.max(longest, performance.now() - began);
    refused.add(outcomeOf(unknown));
    if (unknown.status === 503)
      expect(unknown.headers["retry-after"]).toMatch(/^[1-5]$/);
  } while (!until());
  return { outcomes: [...outcomes], refused: [...refused], longest, archives };
}

describe.runIf(await canRunCeph())("replicas whose bucket fails", () => {
  beforeAll(async () => {
    scene = await startReplicaScene();
  }, 120_000);
  afterAll(() => scene.stop());

  it.each([
    ["may not be written to", "read"],
    ["is full", "no growth"],
  ] as const)(
    "read from a bucket that %s, and refuse what would have to be written",
    async (what, permitted) => {
      const [one] = await scene.start();
      if (one === undefined) throw new Error("none");
      const type = what.replaceAll(" ", "-");
      const known = requestsFor(one, type);
      await scene.registry.publish({ type, version: "1.0.0" });
      expect((await known.archive("1.0.0")).status).toBe(200);
      await scene.registry.publish({ type: `${type}-new`, version: "1.0.0" });
      const unknown = () => requestsFor(one, `${type}-new`).version("1.0.0");
      await scene.ceph.permit(permitted);
      try {
        const refused = await unknown();
        expect(outcomeOf(refused)).toBe("503 bucket-refuses");
        expect(refused.headers["retry-after"]).toMatch(/^[1-5]$/);
        expect((await known.archive("1.0.0")).status).toBe(200);
        await eventually(
          async () => (await one.get("/readyz")).body.toString(),
          (body) => body.includes("takes no writes"),
        );
      } finally {
        await scene.ceph.permit("all");
      }
      await eventually(unknown, ({ status }) => status === 200);
      await eventually(
        async () => (await one.get("/healthz")).body.toString(),
        (body) => body === '{"status":"ok"}',
      );
    },
    120_000,
  );

  it.each(outages)(
    "serve what they know while it $what, refuse new releases, and upload everything later",
    async ({ what, fail, heal, outcome }) => {
      const type = what.replaceAll(/\W/g, "-");
      const settings = await scene.makeBucket();
      const proxy = await startBucketProxy(settings);
      const [one] = await scene.start({ bucket: proxy.settings });
      const [other] = await scene.start({ bucket: settings });
      if (one === undefined || other === undefined) throw new Error("none");
      const known = requestsFor(one, type);
      const first = await scene.registry.publish({ type, version: "1.0.0" });
      const late = await scene.registry.publish({
        type,
        version: "1.1.0",
        size: 300_000,
      });
      await known.index();
      expect((await known.archive("1.0.0")).status).toBe(200);
      expect((await known.version("1.1.0")).status).toBe(200);
      await scene.awaitBrought(settings, first);
      await fail(proxy);
      try {
        const end = performance.now() + lasting * 1_000;
        const streamed = await known.archive("1.1.0");
        expect(sha256Of(streamed.body)).toBe(
          late.archive("linux_amd64").sha256,
        );
        const during = await askDuring(
          one,
          type,
          () => performance.now() > end,
        );
        expect(during.outcomes).toEqual(["200"]);
        for (const refusal of during.refused) expect(refusal).toMatch(outcome);
        expect(during.longest).toBeLessThan(8_000);
        expect((await one.get("/readyz")).status).toBe(200);
        if (!what.includes("1.5 s")) {
          // The client had it before the disk had.
          await eventually(
            () => countWaiting(one),
            (waiting) => waiting === 1,
          );
          expect(await countAlarms(one, "bucket-failing")).toBe(1);
        }
        const served = readAudit(one).filter(
          ({ event, version }) => event === "served" && version === "1.0.0",
        );
        expect(served).toHaveLength(during.archives + 1);
      } finally {
        proxy.intercept = () => undefined;
        await heal();
      }
      await eventually(
        () => countWaiting(one),
        (waiting) => waiting === 0,
        30_000,
      );
      expect(await countAlarms(one, "audit-lost")).toBe(0);
      const { requests } = scene.registry;
      const asked = requests.count("archive");
      const brought = await eventually(
        () => requestsFor(other, type).archive("1.1.0"),
        ({ status }) => status === 200,
      );
      expect(sha256Of(brought.body)).toBe(late.archive("linux_amd64").sha256);
      expect(requests.count("archive")).toBe(asked);
      await eventually(
        () => requestsFor(one, `${type}-new`).version("1.0.0"),
        ({ status }) => status === 200,
      );
      await scene.stopReplicas();
      await proxy.stop();
    },
    200_000,
  );
});
