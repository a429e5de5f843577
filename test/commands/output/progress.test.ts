import { expect, it, onTestFinished, vi } from "vitest";
import { formatAmount } from "../../../src/commands/output/table.ts";
import { Progress } from "../../../src/commands/output/progress.ts";

it("is a line for each thing that came, away from a terminal", () => {
  const shown: string[] = [];
  const write = (text: string) => shown.push(text);
  const progress = new Progress({ columns: undefined, write });
  progress.expect(3);
  progress.end("a", "stored");
  const amounts = { size: 2 ** 20, received: 0 };
  progress.begin("b", amounts);
  amounts.received = amounts.size;
  progress.end("b", "fetched");
  progress.close();
  expect(shown).toEqual(["2/3 b: fetched, 1.0 MiB\n"]);
});

it("is one changing line on a terminal, which leaves nothing behind", () => {
  vi.useFakeTimers({ now: 0 });
  onTestFinished(() => void vi.useRealTimers());
  const shown: string[] = [];
  const write = (text: string) => shown.push(text);
  const progress = new Progress({ columns: 30, write });
  progress.expect(2);
  progress.begin("a", { size: 2 ** 21, received: 2 ** 20 });
  progress.begin("beyond-the-edge", { size: undefined, received: 0 });
  vi.advanceTimersByTime(1_000);
  progress.close();
  vi.advanceTimersByTime(1_000);
  expect(shown).toHaveLength(6);
  expect(shown[4]).toBe("\r\x1b[K0/2 1.0 MiB/s a 1.0 MiB of 2.");
  expect(shown[5]).toBe("\r\x1b[K");
});

it.each([
  [999, "999 B"],
  [1000, "1.0 KiB"],
  [1_500_000, "1.4 MiB"],
  [3 * 1024 ** 5, "3072.0 TiB"],
])("%d bytes are shown as %s", (bytes, expected) => {
  expect(formatAmount(bytes)).toBe(expected);
});
