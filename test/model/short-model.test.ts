import { describe, it } from "vitest";
import { expectUnbroken } from "./unbroken.ts";

describe("the trust core, played for seconds", { timeout: 300_000 }, () => {
  it("keeps every invariant in 200 sequences of a fixed seed", () =>
    expectUnbroken({ first: 1, count: 200, steps: 40 }));

  it("keeps every invariant in all sequences of up to 2 steps of a small alphabet", () =>
    expectUnbroken({ longest: 2 }));
});
