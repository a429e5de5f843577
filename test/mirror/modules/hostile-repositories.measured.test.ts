import { describe, expect, it } from "vitest";
import { packBackend, packOf } from "../../fakes/git-pack.ts";
import type { GitBackend } from "../../fakes/module-registry.ts";
import { startMirror } from "../../running-mirror.ts";
import { measureHealthFor } from "../../scenes/health-client.ts";
import {
  codeOf,
  countFiles,
  locate,
  makeModuleScene,
} from "../../scenes/module-scene.ts";
import { peakOf } from "../../scenes/processes.ts";
import {
  harmlessRepository,
  hostileRepositories,
  type HostileRepository,
} from "./hostile-repositories.ts";

let backend: GitBackend;
let published = 0;

/** Milliseconds in which some hundred answers come. */
const enough = 3_000;

const scene = await makeModuleScene((req, res) => backend(req, res));
// Answers wait for the end of the work, so that it is measured whole.
const mirror = await startMirror({
  ...{ config: scene.configOf(), limits: { answer: 60_000 } },
});
// Code that runs for the first time is slower than it will ever be again.
await measureHealthFor(mirror, enough, () =>
  locate(mirror, publish(harmlessRepository())),
);

function publish({ commit, objects }: HostileRepository): string {
  backend = packBackend(commit, packOf(objects));
  const module = `hostile${published++}`;
  const url = `git::${scene.origin.url}git/${module}`;
  scene.origin.publish(`acme/${module}/aws`, "1.0.0", url);
  return module;
}

describe("a repository of", () => {
  it.each(Object.entries(hostileRepositories))(
    "%s is refused soon, and no other client waits",
    { timeout: 60_000 },
    async (_, make) => {
      const repository = make();
      const refuse = async () => {
        const before = performance.now();
        const answer = await locate(mirror, publish(repository));
        expect(answer.status).toBe(451);
        expect(codeOf(answer)).toBe("module-archive-refused");
        expect(performance.now() - before).toBeLessThan(20_000);
      };
      const { times } = await measureHealthFor(mirror, enough, refuse);
      expect(times.p99).toBeLessThanOrEqual(100);
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
