import { describe, expect, it } from "vitest";
import {
  formatAmount,
  formatTime,
} from "../../../src/commands/output/figures.ts";
import {
  makeProgress,
  type ProgressItem,
} from "../../../src/commands/output/progress.ts";

const mebibyte = 1024 * 1024;

function show(isTTY: boolean) {
  let text = "";
  const clock = { now: 0 };
  const output = {
    isTTY,
    columns: 200,
    write: (piece: string) => {
      text += piece;
    },
  };
  const progress = makeProgress(output, () => clock.now);
  return { progress, clock, shown: () => text };
}

describe("progress away from a terminal", () => {
  it("is one line for each thing that came, with the rate and the time for the rest", () => {
    const { progress, clock, shown } = show(false);
    progress.expect(4);
    const here: ProgressItem = { label: "a", size: 0, received: 0 };
    progress.end(here, "stored");
    const first = { label: "b", size: 10 * mebibyte, received: 0 };
    progress.begin(first);
    clock.now = 2_000;
    first.received = first.size;
    progress.end(first, "fetched");
    const second = { label: "c", size: undefined, received: 0 };
    progress.begin(second);
    progress.end(second, "failed");
    progress.close();
    expect(shown()).toBe(
      "2/4 b: fetched, 10.0 MiB (5.0 MiB/s, 4s left)\n3/4 c: failed, 0 B (5.0 MiB/s, 1s left)\n",
    );
  });
});

describe("progress on a terminal", () => {
  it("is a bar for each thing and one for all, and leaves nothing behind", () => {
    const { progress, clock, shown } = show(true);
    progress.expect(2);
    const item = { label: "thing", size: 2 * mebibyte, received: mebibyte };
    progress.begin(item);
    clock.now = 1_000;
    progress.end({ label: "other", size: 0, received: 0 }, "stored");
    item.received = item.size;
    progress.end(item, "fetched");
    progress.close();
    expect(shown()).toContain("thing");
    expect(shown()).toContain("2/2");
    expect(shown()).not.toContain("NaN");
  });
});

describe("figures for people", () => {
  it.each([
    [0, "0 B"],
    [999, "999 B"],
    [1000, "1.0 KiB"],
    [1_500_000, "1.4 MiB"],
    [3 * 1024 ** 4, "3.0 TiB"],
    [3 * 1024 ** 5, "3072.0 TiB"],
  ])("shows %d bytes as %s", (bytes, expected) => {
    expect(formatAmount(bytes)).toBe(expected);
  });

  it.each([
    [0, "0s"],
    [0.2, "1s"],
    [59.5, "1m00s"],
    [70, "1m10s"],
    [3599.2, "1h00m"],
    [7500, "2h05m"],
  ])("shows %d seconds as %s", (seconds, expected) => {
    expect(formatTime(seconds)).toBe(expected);
  });
});
