import { randomInt } from "node:crypto";
import { expect, it } from "vitest";
import { playBatch } from "./play/play.ts";

const fresh = randomInt(1_000_000, 1_000_000_000);

it.each([
  ["5,000 sequences of a fixed seed", { first: 1, count: 5_000, steps: 40 }],
  [
    `2,000 sequences of a fresh seed, ${fresh}`,
    { first: fresh, count: 2_000, steps: 40 },
  ],
  ["all sequences of up to 4 steps of a small alphabet", { longest: 4 }],
])(
  "the trust core, played against what was published, decided and served, keeps every invariant in %s",
  { timeout: 15 * 60_000 },
  async (_, sequences) => {
    const played = await playBatch({ sequences }, 2);
    expect(played.reports.join("\n\n")).toBe("");
    expect(played.count).toBeGreaterThanOrEqual(2_000);
  },
);
