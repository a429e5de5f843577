import { afterAll, beforeAll, expect, it } from "vitest";
import { effort } from "../effort.ts";
import { createAuthority } from "../fakes/authority.ts";
import { barrier } from "../fakes/barrier.ts";
import { all, chunked, normal, onlyFor, type Fault } from "../fakes/faults.ts";
import { startRegistry, type Registry } from "../fakes/registry.ts";
import type { Release } from "../fakes/release.ts";
import { originsOf } from "../origins.ts";
import { startMirror, type Answer } from "../running-mirror.ts";
import { awaitHit, awaitMessage } from "../scenes/log-lines.ts";

const size = 2_000_000;
const downloads = 100;
const stop = 1_500;

let registry: Registry;
let config: ReturnType<typeof originsOf>;
let warm: Release;
let cold: Release;

beforeAll(async () => {
  const authority = await createAuthority();
  registry = await startRegistry({ authority });
  config = originsOf(authority, registry);
  warm = await registry.publish({ type: "warm", version: "1.0.0", size });
  cold = await registry.publish({ type: "cold", version: "1.0.0", size });
});

afterAll(() => registry.stop());

function pathOf({ type, archives }: Release): string {
  return `/providers/registry.terraform.io/acme/${type}/${archives[0]?.filename}`;
}

/** Judges an answer as its client does; a missing one counts as cut. */
function judge(
  answer: PromiseSettledResult<Answer>,
  index: number,
): "whole" | "cut" | "wrong" {
  if (answer.status === "rejected") return "cut";
  const { status, complete, body } = answer.value;
  if (!complete) return "cut";
  // An error that came whole says itself that it is no archive.
  if (status >= 500) return "cut";
  const { archives } = index % 2 === 0 ? cold : warm;
  return status === 200 && archives[0]?.bytes.equals(body) === true
    ? "whole"
    : "wrong";
}

/** SIGTERM while 100 downloads are under way, half of them of an archive that is fetched; `goesOn` is whether the origin does. */
async function stopOnce(fault: Fault, goesOn: boolean): Promise<string> {
  const mirror = await startMirror({
    ...{ config, limits: { stop } },
  });
  await awaitHit(mirror, pathOf(warm));
  const gate = barrier();
  const held = onlyFor(/cold/, all(fault, gate.afterBytes(size / 2)));
  registry.script("archive", held);
  const answers = Array.from({ length: downloads }, (_, index) =>
    mirror.get(pathOf(index % 2 === 0 ? cold : warm)),
  );
  const settled = Promise.allSettled(answers);
  await Promise.all([gate.reached, Promise.race(answers)]);
  const before = performance.now();
  const exit = mirror.stop();
  await awaitMessage(mirror, "stopping");
  if (goesOn) gate.release();
  const status = await exit;
  const seconds = (performance.now() - before) / 1000;
  gate.release();
  const verdicts = Map.groupBy(
    (await settled).map(judge),
    (verdict) => verdict,
  );
  const count = (verdict: "whole" | "cut" | "wrong") =>
    verdicts.get(verdict)?.length ?? 0;
  expect(status).toBe(0);
  expect(count("wrong")).toBe(0);
  if (!goesOn) expect(count("cut")).toBeGreaterThanOrEqual(downloads / 2);
  // The rest is what a loaded machine takes to end a process.
  expect(seconds).toBeLessThan(stop / 1000 + 10);
  return `${count("whole")} whole, ${count("cut")} cut, 0 wrong, exit after ${seconds.toFixed(1)} s`;
}

it(
  "SIGTERM under 100 downloads leaves no client with a wrong body that looks whole",
  { timeout: 300_000 },
  async () => {
    for (let round = 0; round < 2 * effort; round++) {
      const fault = round % 4 < 2 ? normal : chunked;
      const summary = await stopOnce(fault, round % 2 === 1);
      console.info(`round ${round + 1} of ${2 * effort}: ${summary}`);
    }
  },
);
