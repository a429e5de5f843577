import { randomInt } from "node:crypto";
import { describe, expect, it } from "vitest";
import { effort } from "../effort.ts";
import { canRunCeph } from "../fakes/ceph.ts";
import { canFakeTime } from "../fakes/fake-time.ts";
import type { WorldName } from "./play/worlds.ts";
import { playInThreads } from "./play/threads.ts";

const patience = 15 * 60_000;
/** Known sequences, so that a change is blamed only for what it did; longer runs play others. */
const first = effort === 1 ? 7_000_001 : randomInt(1_000_000, 1_000_000_000);
const hasCeph = await canRunCeph();

describe
  .runIf(canFakeTime)
  .concurrent("real daemons, played like the trust core", () => {
    it.each(["daemon", "daemon-offline"] as const)(
      "keep every invariant in world %s, also when they are killed",
      (world) => expectUnbroken(world, effort, 20),
      patience,
    );

    it.runIf(hasCeph)(
      "keep every invariant as two replicas on one bucket",
      () => expectUnbroken("daemon-replicas", effort, 12),
      patience,
    );
  });

async function expectUnbroken(
  world: WorldName,
  count: number,
  steps: number,
): Promise<void> {
  console.log(`model: world ${world} from seed ${first}`);
  const sequences = { first, count, steps };
  const played = await playInThreads(
    { sequences, world, untilBroken: false },
    Math.min(2, count),
  );
  expect(played.reports.join("\n\n")).toBe("");
  expect(played.count).toBe(count);
}
