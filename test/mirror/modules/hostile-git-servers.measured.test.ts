import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { GitBackend } from "../../fakes/module-registry.ts";
import { startMirror, type RunningMirror } from "../../running-mirror.ts";
import { measureHealthFor } from "../../scenes/health-client.ts";
import {
  countFiles,
  locate,
  makeModuleScene,
  type ModuleScene,
} from "../../scenes/module-scene.ts";
import { hostilePacks, sends } from "./hostile-packs.ts";

/** Milliseconds in which some hundred answers come. */
const enough = 3_000;

let scene: ModuleScene;
let mirror: RunningMirror;
let backend: GitBackend;
let published = 0;

beforeAll(async () => {
  scene = await makeModuleScene((req, res) => backend(req, res));
  // Answers wait for the end of the work, so that it is measured whole.
  const limits = { answer: 60_000 };
  mirror = await startMirror({ config: scene.configOf(), limits });
  backend = sends();
  // Code that runs for the first time is slower than it will ever be again.
  await measureHealthFor(mirror, enough, ask);
});

afterAll(async () => {
  await mirror.stop();
  await scene.origin.stop();
});

/** Requests a new module and returns the status. */
async function ask(): Promise<number> {
  const module = `server${published++}`;
  const url = `git::${scene.origin.url}git/${module}`;
  scene.origin.publish(`acme/${module}/aws`, "1.0.0", url);
  return (await locate(mirror, module)).status;
}

describe("packs", () => {
  it.each(hostilePacks)(
    "%s keep no other client waiting",
    { timeout: 60_000 },
    async (_, hostile) => {
      backend = sends(...hostile);
      const measured = await measureHealthFor(mirror, enough, ask);
      expect(new Set(measured.result)).toEqual(new Set([502]));
      expect(measured.times.p99).toBeLessThanOrEqual(100);
      expect(await countFiles(mirror, "staging")).toBe(0);
    },
  );
});
