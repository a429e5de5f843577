import { it } from "vitest";
import { expectUnbroken } from "./unbroken.ts";

it("the trust core, played for seconds, keeps every invariant in 600 sequences of a fixed seed", () =>
  expectUnbroken({ first: 1, count: 600, steps: 40 }));
