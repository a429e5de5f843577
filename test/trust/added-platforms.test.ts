import { expect, it } from "vitest";
import { ask, byE, tell } from "./asking.ts";
import { content, E, evidence, K, pinned, question } from "./releases.ts";

it("a platform that another key added is served while that key is acceptable", () => {
  const added = byE("linux=a darwin=b");
  const widened = {
    pinned: pinned("linux=a darwin=b"),
    published: [K, E],
  };
  const { sha256sums } = widened.pinned;
  const first = evidence({ sha256sums });
  const { rules } = question();
  expect(
    tell(
      ask([first, added], {
        ...widened,
        rules: { ...rules, newKeys: "accept" },
      }),
    ),
  ).toMatch(/^served darwin=b by /);
  expect(tell(ask([first, added], widened))).toBe("served linux=a by K");
  // The first key signed it, too.
  const own = evidence({ content: content("linux=a darwin=b") });
  expect(tell(ask([first, own, added], widened))).toMatch(
    /^served darwin=b by /,
  );
});
