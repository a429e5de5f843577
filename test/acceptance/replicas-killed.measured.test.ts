import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { effort } from "../effort.ts";
import {
  startBucketProxy,
  type BucketProxy,
  type BucketStep,
} from "../fakes/bucket-proxy.ts";
import { canRunCeph } from "../fakes/ceph.ts";
import type { Fault } from "../fakes/faults.ts";
import type { Release } from "../fakes/release.ts";
import type { Wait } from "../fakes/reply.ts";
import type { Answer, RunningMirror } from "../running-mirror.ts";
import { eventually, requestsFor } from "../scenes/provider-requests.ts";
import {
  sha256Of,
  startReplicaScene,
  type ReplicaScene,
} from "../scenes/replica-scene.ts";

const size = 1_000_000;

/** Where the filling replica is when it is killed: what its origin has sent, or what it asks of the bucket. */
type Point = Wait["at"] | readonly [BucketStep, RegExp];

const points: readonly Point[] = [
  ...(["headers", size / 4, size / 2, (size * 3) / 4, size - 1] as const),
  ["asked", /^HEAD blobs/],
  ["asked", /^PUT blobs/],
  ["half", /^PUT blobs/],
  ["done", /^PUT blobs/],
];

const forever = new Promise<never>(() => undefined);
let scene: ReplicaScene;
/** Fault of the first request for the archive of a type. */
const atOrigin = new Map<string, Fault>();

/** Resolves when the replica behind `proxy` is there, where it is left hanging. */
function untilAt(
  point: Point,
  type: string,
  proxy: BucketProxy,
): Promise<unknown> {
  const { promise, resolve } = Promise.withResolvers<undefined>();
  const hang = () => {
    resolve(undefined);
    return forever;
  };
  if (typeof point === "object") {
    const [where, what] = point;
    proxy.intercept = (step, asked) =>
      step === where && what.test(asked) ? hang() : undefined;
  } else
    atOrigin.set(type, (reply) => ({
      ...reply,
      waits: [...reply.waits, { at: point, until: hang }],
    }));
  return promise;
}

/** Asks until it has the archive whole, or the replica is gone. */
async function askLastingly(
  doomed: RunningMirror,
  { type = "", version }: Release["options"],
): Promise<Answer | undefined> {
  for (;;)
    try {
      const answer = await requestsFor(doomed, type).archive(version);
      if (isWhole(answer)) return answer;
    } catch {
      return undefined;
    }
}

/** Kills a replica while it fetches an archive, and reports what the others serve. */
async function killAt(
  point: Point,
  release: Release,
  doomed: RunningMirror,
  other: RunningMirror,
  proxy: BucketProxy,
) {
  const { type = "", version } = release.options;
  const there = untilAt(point, type, proxy);
  const asking = askLastingly(doomed, release.options);
  await there;
  await doomed.kill();
  const began = performance.now();
  const served = await eventually(
    () => requestsFor(other, type).archive(version),
    isWhole,
    60_000,
  );
  const seconds = (performance.now() - began) / 1_000;
  const digests = [await asking, served].flatMap((answer) =>
    answer === undefined ? [] : sha256Of(answer.body),
  );
  const asked = scene.registry.requests
    .list("archive")
    .filter(({ path }) => path.includes(`-${type}_`)).length;
  return { point: String(point), digests: new Set(digests), seconds, asked };
}

function isWhole(answer: Answer): boolean {
  return answer.status === 200 && answer.complete;
}

describe.runIf(await canRunCeph())("a replica that is killed", () => {
  beforeAll(async () => {
    scene = await startReplicaScene();
    scene.registry.script("archive", (reply, request) => {
      const [, type = ""] = /provider-(.*?)_/.exec(request.path) ?? [];
      const fault = atOrigin.get(type);
      atOrigin.delete(type);
      return fault?.(reply, request) ?? reply;
    });
  }, 120_000);
  afterAll(() => scene.stop());

  it.each(Array.from({ length: effort }, (_, round) => round))(
    "while it fetches, wherever it is, leaves no wrong archive and no client without one for over 20 s: round %i",
    async (round) => {
      const bucket = await scene.makeBucket();
      const [other] = await scene.start({ bucket });
      if (other === undefined) throw new Error("none");
      const all = await Promise.all(
        points.map(async (point) => {
          const proxy = await startBucketProxy(bucket);
          const [doomed] = await scene.start({ bucket: proxy.settings });
          if (doomed === undefined) throw new Error("none");
          return { point, proxy, doomed };
        }),
      );
      const outcomes = await Promise.all(
        all.map(async ({ point, proxy, doomed }, index) => {
          const release = await scene.registry.publish({
            type: `killed-${round}-${index}`,
            version: "1.0.0",
            size,
          });
          const what = await killAt(point, release, doomed, other, proxy);
          await proxy.stop();
          return { ...what, sha256: release.archive("linux_amd64").sha256 };
        }),
      );
      for (const { point, seconds, asked } of outcomes)
        console.log(`${point}: ${seconds.toFixed(1)} s, ${asked} requests`);
      for (const { digests, sha256, seconds, asked } of outcomes) {
        expect([...digests]).toEqual([sha256]);
        expect(asked).toBeLessThanOrEqual(2);
        expect(seconds).toBeLessThan(20);
      }
      await scene.stopReplicas();
    },
    180_000,
  );
});
