import { randomInt } from "node:crypto";
import { expect, it } from "vitest";
import { playBatch } from "./play/play.ts";

const fresh = randomInt(1_000_000, 1_000_000_000);

it.each([
  ["5,000 sequences of a fixed seed", 1, 5_000],
  ["2,000 sequences of a fresh seed", fresh, 2_000],
])(
  "the trust core, played against what was published, decided and served, keeps every invariant in %s (%i)",
  { timeout: 15 * 60_000 },
  async (_, first, count) => {
    const played = await playBatch({ first, count, steps: 40 }, 2);
    expect(played.reports.join("\n\n")).toBe("");
    expect(played.count).toBe(count);
  },
);
