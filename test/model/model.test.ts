import { randomInt } from "node:crypto";
import { availableParallelism } from "node:os";
import { describe, expect, it } from "vitest";
import { playInThreads } from "./play/threads.ts";
import type { Batch } from "./play/batch.ts";

// Plays as many sequences in CI as one change is worth, and few of them elsewhere.
const isCi = process.env.CI !== undefined;
const steps = 40;
const patience = 15 * 60_000;
const threads = Math.min(2, availableParallelism());

describe("the trust core, played against what was published, decided and served", () => {
  it(
    "keeps every invariant in sequences of a fixed seed",
    async () => {
      await expectUnbroken({ first: 1, count: isCi ? 5_000 : 200, steps });
    },
    patience,
  );

  it(
    "keeps every invariant in sequences of a fresh seed",
    async () => {
      const first = randomInt(1_000_000, 1_000_000_000);
      console.log(`model: sequences from seed ${first}`);
      await expectUnbroken({ first, count: isCi ? 2_000 : 100, steps });
    },
    patience,
  );

  it(
    "keeps every invariant in all short sequences of a small alphabet",
    async () => {
      await expectUnbroken({ longest: isCi ? 4 : 2 });
    },
    patience,
  );
});

async function expectUnbroken(sequences: Batch["sequences"]): Promise<void> {
  const batch = { sequences, world: undefined, untilBroken: false };
  const played = await playInThreads(batch, threads);
  expect(played.reports.join("\n\n")).toBe("");
  expect(played.count).toBeGreaterThan(0);
}
