import { randomInt } from "node:crypto";
import { describe, it } from "vitest";
import { expectUnbroken } from "./unbroken.ts";

const steps = 40;

describe(
  "the trust core, played against what was published, decided and served",
  { timeout: 15 * 60_000 },
  () => {
    it("keeps every invariant in 5,000 sequences of a fixed seed", () =>
      expectUnbroken({ first: 1, count: 5_000, steps }));

    it("keeps every invariant in 2,000 sequences of a fresh seed", () => {
      const first = randomInt(1_000_000, 1_000_000_000);
      console.log(`model: sequences from seed ${first}`);
      return expectUnbroken({ first, count: 2_000, steps });
    });
  },
);
