import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { median } from "../../bench/figure.ts";
import { effort } from "../effort.ts";
import { canRunCeph } from "../fakes/ceph.ts";
import { has } from "../packaging/release.ts";
import type { RunningMirror } from "../running-mirror.ts";
import {
  canMakeCpuQuota,
  makeCpuQuota,
  type CpuQuota,
} from "../scenes/cpu-quota.ts";
import { requestsFor } from "../scenes/provider-requests.ts";
import {
  startReplicaScene,
  type ReplicaScene,
} from "../scenes/replica-scene.ts";

const run = promisify(execFile);
/** Only where there is effort to spare, and on a machine that does nothing else. */
const canMeasure =
  effort > 1 &&
  canMakeCpuQuota() &&
  (await canRunCeph()) &&
  (await has("wrk", "what three replicas serve"));

/** Share of a core for each replica. */
const share = 0.2;
const rounds = 5;
const seconds = 4;

let scene: ReplicaScene;
let replicas: readonly RunningMirror[];
let quotas: readonly CpuQuota[] = [];

const folder = "/providers/registry.terraform.io/acme/many/";
const loads = [
  {
    what: "indexes",
    path: `${folder}index.json`,
    rate: /Requests\/sec:\s+([\d.]+)()/,
    least: 2.6,
  },
  {
    what: "archives",
    path: `${folder}terraform-provider-many_1.0.0_linux_amd64.zip`,
    rate: /Transfer\/sec:\s+([\d.]+)([KMG]?)B/,
    least: 2.4,
  },
] as const;
type Load = (typeof loads)[number];

/** Responses or bytes a second of the first `count` replicas, each asked by clients of its own. */
async function measure(count: number, load: Load): Promise<number> {
  const rates = replicas.slice(0, count).map(async ({ url }) => {
    const size = ["-t", "1", "-c", "32", "-d", `${seconds}`];
    const { stdout } = await run("wrk", [
      ...size,
      new URL(load.path, url).href,
    ]);
    expect(stdout).not.toMatch(/Non-2xx|(?:connect|read|write) [1-9]/);
    const [, figure, unit = ""] = load.rate.exec(stdout) ?? [];
    return Number(figure) * 1024 ** " KMG".indexOf(unit || " ");
  });
  return (await Promise.all(rates)).reduce((sum, rate) => sum + rate, 0);
}

describe.runIf(canMeasure)("three replicas with a part of a core each", () => {
  beforeAll(async () => {
    scene = await startReplicaScene();
    const release = { type: "many", version: "1.0.0", size: 300_000 };
    await scene.registry.publish(release);
    const bucket = await scene.makeBucket();
    replicas = await scene.start({ count: 3, bucket });
    for (const mirror of replicas)
      await requestsFor(mirror, "many").archive("1.0.0");
    // Also compiles what runs most, which takes long with so little of a core.
    for (const load of [...loads, ...loads]) await measure(3, load);
    quotas = replicas.map(({ process }) => {
      const quota = makeCpuQuota(share);
      quota.add(process.pid ?? 0);
      return quota;
    });
  }, 120_000);

  afterAll(async () => {
    await scene.stop();
    for (const quota of quotas) quota.remove();
  });

  it.each(loads)(
    "serve $least times as many $what as one",
    async (load) => {
      const ratios: number[] = [];
      for (let round = 0; round < rounds; round++) {
        const one = await measure(1, load);
        const three = await measure(3, load);
        ratios.push(three / one);
        console.log(
          `${load.what}: ${one.toFixed(0)} and ${three.toFixed(0)} a second`,
        );
      }
      expect(median(ratios)).toBeGreaterThanOrEqual(load.least);
    },
    120_000,
  );
});
