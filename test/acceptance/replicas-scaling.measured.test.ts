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
import { startBalancer, type Balancer } from "./haproxy.ts";

const run = promisify(execFile);
const canMeasure =
  canMakeCpuQuota() &&
  (await canRunCeph()) &&
  (await has("haproxy", "what three replicas serve")) &&
  (await has("wrk", "what three replicas serve"));

/** Of a core, for each replica: with 20 % two cores have too little left for a client and a balancer that keep three busy. */
const share = 0.1;
/** At least; while the machine does other work as well it may take five times as many. */
const rounds = effort > 1 ? 10 : 4;
const seconds = effort > 1 ? 4 : 1;

/** What chrt gives client and balancers: nothing else that the machine does delays them. */
const first = ["--rr", "1"];

let scene: ReplicaScene;
let replicas: readonly RunningMirror[];
let quotas: readonly CpuQuota[] = [];
/** Of one replica and of all three. */
let balancers: readonly Balancer[];

const folder = "/providers/registry.terraform.io/acme/many/";
const loads = [
  {
    what: "indexes",
    path: `${folder}index.json`,
    // So many that each replica has as much to do at once as the one.
    connections: 96,
    rate: /Requests\/sec:\s+([\d.]+)()/,
    least: 2.6,
  },
  {
    what: "archives",
    path: `${folder}terraform-provider-many_1.0.0_linux_amd64.zip`,
    connections: 24,
    rate: /Transfer\/sec:\s+([\d.]+)([KMG]?)B/,
    least: 2.4,
  },
] as const;

/** Responses or bytes a second, of one replica or of all three. */
async function measure(
  count: 1 | 3,
  { path, connections, rate }: (typeof loads)[number],
): Promise<number> {
  const url = new URL(path, balancers[count === 1 ? 0 : 1]?.url).href;
  const size = ["-t", "1", "-c", `${connections}`, "-d", `${seconds}`];
  const { stdout } = await run("chrt", [...first, "wrk", ...size, url]);
  expect(stdout).not.toMatch(/Non-2xx|(?:connect|read|write) [1-9]/);
  const [, figure, unit = ""] = rate.exec(stdout) ?? [];
  return Number(figure) * 1024 ** " KMG".indexOf(unit || " ");
}

describe.runIf(canMeasure)("three replicas with a part of a core each", () => {
  beforeAll(async () => {
    scene = await startReplicaScene();
    await scene.registry.publish({
      type: "many",
      version: "1.0.0",
      size: 300_000,
    });
    const bucket = await scene.makeBucket();
    replicas = await scene.start({ count: 3, bucket });
    balancers = await Promise.all(
      [1, 3].map((count) =>
        startBalancer(scene.authority, replicas.slice(0, count), "roundrobin"),
      ),
    );
    for (const { pid } of balancers)
      await run("chrt", ["--all-tasks", "--pid", ...first, `${pid}`]);
    for (const mirror of replicas)
      await requestsFor(mirror, "many").archive("1.0.0");
    // Also compiles what runs most, which takes longer than all the rest with so little of a core.
    for (const load of [...loads, ...loads]) await measure(3, load);
    quotas = replicas.map(({ process }) => {
      const quota = makeCpuQuota(share);
      quota.add(process.pid ?? 0);
      return quota;
    });
  }, 120_000);
  afterAll(async () => {
    await Promise.all(balancers.map((balancer) => balancer.stop()));
    await scene.stop();
    for (const quota of quotas) quota.remove();
  });

  it.each(loads)(
    "serve $least times as many $what as one",
    async (load) => {
      const ones: number[] = [];
      const threes: number[] = [];
      const ratios: number[] = [];
      const isEnough = (round: number) =>
        round >= rounds && median(ratios) >= load.least;
      for (let round = 0; round < 5 * rounds && !isEnough(round); round++) {
        const one = await measure(1, load);
        const three = await measure(3, load);
        ones.push(one);
        threes.push(three);
        ratios.push(three / one);
      }
      const [few, many] = [ones, threes].map((all) => median(all).toFixed(0));
      const ratio = median(ratios);
      console.log(
        `${load.what}: ${few} and ${many} a second, ${ratio.toFixed(2)} × in ${ratios.length} rounds`,
      );
      expect(ratio).toBeGreaterThanOrEqual(load.least);
    },
    120_000,
  );
});
