import { expect, it } from "vitest";
import { playBatch } from "./play/play.ts";

it("the trust core, played for seconds, keeps every invariant in 400 sequences of a fixed seed", async () => {
  const played = await playBatch(
    { sequences: { first: 1, count: 400, steps: 40 } },
    2,
  );
  expect(played.reports.join("\n\n")).toBe("");
  expect(played.count).toBe(400);
});
