import { expect, it } from "vitest";
import { repliesOf } from "../../../src/server/warm/replies.ts";

it.each([200, 304] as const)(
  "replies of %d that wait to be sent again are those of a few documents",
  (status) => {
    const made = Array.from({ length: 1_000 }, () => {
      const document = { body: "{}", confirming: [], describing: [] };
      return { document, replies: repliesOf(document, status) };
    });
    const kept = made
      .toReversed()
      .filter(
        ({ document, replies }) => repliesOf(document, status) === replies,
      );
    expect(kept[0]).toBe(made.at(-1));
    expect(kept.length).toBeGreaterThan(10);
    expect(kept.length).toBeLessThan(100);
  },
);
