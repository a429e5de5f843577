import { expect, it } from "vitest";
import { refuseBomb } from "../../../src/verification/archives/limits.ts";

const limits = { entries: 2, expandedBytes: 1000, ratio: 10 };

it.each([
  ["the most bytes", 1000, 100, 0, undefined],
  ["more bytes", 1001, 1000, 0, "more than 1000 bytes"],
  ["the most for its size", 100, 10, 0, undefined],
  ["more than its size may have", 101, 10, 0, "more than 10 times its size"],
  ["more, which is harmless", 105, 10, 5, undefined],
  ["more than is harmless", 106, 10, 5, "more than 10 times its size"],
])(
  "an archive may not expand to %s",
  (_what, expanded, size, harmlessBytes, refusal) => {
    const check = () =>
      refuseBomb(expanded, size, { ...limits, harmlessBytes });
    if (refusal === undefined) expect(check).not.toThrow();
    else expect(check).toThrow(refusal);
  },
);
