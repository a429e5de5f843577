import { availableParallelism } from "node:os";
import { expect } from "vitest";
import type { Batch } from "./play/batch.ts";
import { playInThreads } from "./play/threads.ts";

const threads = Math.min(2, availableParallelism());

/** Plays sequences in worlds in memory, and fails with the shortest one that breaks an invariant. */
export async function expectUnbroken(
  sequences: Pick<Batch, "first" | "count" | "steps">,
): Promise<void> {
  const batch = { ...sequences, world: undefined, untilBroken: false };
  const played = await playInThreads(batch, threads);
  expect(played.reports.join("\n\n")).toBe("");
  expect(played.count).toBeGreaterThan(0);
}
