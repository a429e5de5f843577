import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { canRunCeph } from "../fakes/ceph.ts";
import type { RunningMirror } from "../running-mirror.ts";
import {
  digestsIn,
  eventually,
  outcomeOf,
  requestsFor,
  runCommand,
} from "../scenes/provider-requests.ts";
import {
  env,
  startReplicaScene,
  type ReplicaScene,
} from "../scenes/replica-scene.ts";

const hasCeph = await canRunCeph();
let scene: ReplicaScene;

type Pair = readonly [RunningMirror, RunningMirror];

async function startPair(): Promise<Pair> {
  return (await scene.start({ count: 2 })) as unknown as Pair;
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
      seed: "created anew",
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
});
