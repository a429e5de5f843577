import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { packBackend, packOf } from "../../fakes/git-pack.ts";
import type { GitBackend } from "../../fakes/module-registry.ts";
import { startMirror, type RunningMirror } from "../../running-mirror.ts";
import { measureHealth } from "../../scenes/health-client.ts";
import {
  codeOf,
  countFiles,
  locate,
  makeModuleScene,
  type ModuleScene,
} from "../../scenes/module-scene.ts";
import { peakOf } from "../../scenes/processes.ts";
import {
  harmlessRepository,
  hostileRepositories,
  type HostileRepository,
} from "./hostile-repositories.ts";

let scene: ModuleScene;
let mirror: RunningMirror;
let backend: GitBackend;
let published = 0;

beforeAll(async () => {
  scene = await makeModuleScene((req, res) => backend(req, res));
  // Answers wait for the end of the work, so that it is measured whole.
  mirror = await startMirror({
    config: scene.configOf({ limits: { answer: "60s" } }),
  });
});

afterAll(async () => {
  await mirror.stop();
  await scene.origin.stop();
});

function publish({ commit, objects }: HostileRepository): string {
  backend = packBackend(commit, packOf(objects));
  const module = `hostile${published++}`;
  const url = `git::${scene.origin.url}git/${module}`;
  scene.origin.publish(`acme/${module}/aws`, "1.0.0", url);
  return module;
}

describe("a repository of", () => {
  it.each(Object.entries(hostileRepositories))(
    "%s is refused soon, and nobody else waits",
    // What others do on the machine is measured, too.
    { retry: 2 },
    async (_, make) => {
      const module = publish(make());
      const before = performance.now();
      const work = () => locate(mirror, module);
      const { result, times } = await measureHealth(mirror, work);
      const took = performance.now() - before;
      expect(result.status).toBe(451);
      expect(codeOf(result)).toBe("module-archive-refused");
      expect(times.p99).toBeLessThanOrEqual(100);
      expect(took).toBeLessThan(20_000);
      expect(await countFiles(mirror, "staging")).toBe(0);
      expect(mirror.process.exitCode).toBeNull();
    },
  );

  it("links in a circle is packed without them", async () => {
    const { status } = await locate(mirror, publish(harmlessRepository()));
    expect(status).toBe(204);
  });

  it.skipIf(process.platform !== "linux")(
    "any kind leaves the daemon small",
    () => {
      expect(peakOf(mirror.process.pid ?? 0)).toBeLessThan(700 * 2 ** 20);
    },
  );
});
