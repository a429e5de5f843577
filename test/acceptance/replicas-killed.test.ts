import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { effort } from "../effort.ts";
import { canRunCeph } from "../fakes/ceph.ts";
import type { RunningMirror } from "../running-mirror.ts";
import { requestsFor } from "../scenes/provider-requests.ts";
import {
  sha256Of,
  startReplicaScene,
  type ReplicaScene,
} from "../scenes/replica-scene.ts";

// Takes the quarter of a minute after which a holder of a lease counts as dead.
describe.runIf(effort > 1 && (await canRunCeph()))(
  "a replica that is killed while it fetches",
  () => {
    let scene: ReplicaScene;
    beforeAll(async () => {
      scene = await startReplicaScene();
    }, 120_000);
    afterAll(() => scene.stop());

    it("is waited for, and another one fetches within 20 s", async () => {
      const { registry } = scene;
      const [doomed, other] = await scene.start({ count: 2 });
      if (doomed === undefined || other === undefined) throw new Error("none");
      const release = await registry.publish({
        type: "killed",
        version: "1.0.0",
        size: 3_000_000,
      });
      const ask = (mirror: RunningMirror) =>
        requestsFor(mirror, "killed").archive("1.0.0");
      await requestsFor(doomed, "killed").version("1.0.0");
      registry.requests.clear();
      registry.bytesPerSecond = 200_000;
      ask(doomed).catch(() => undefined);
      await expect
        .poll(() => registry.requests.count("archive"), { timeout: 10_000 })
        .toBe(1);
      await doomed.kill();
      registry.bytesPerSecond = undefined;
      const began = performance.now();
      const { body } = await ask(other);
      expect(sha256Of(body)).toBe(release.archive("linux_amd64").sha256);
      expect(performance.now() - began).toBeLessThan(20_000);
      expect(registry.requests.count("archive")).toBe(2);
    }, 60_000);
  },
);
