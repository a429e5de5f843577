import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { ReplicaClock } from "../../../src/store/bucket/replica-clock.ts";

const now = new Date("2026-05-01T00:00:00Z");

beforeEach(() => vi.useFakeTimers({ now }));
afterEach(() => vi.useRealTimers());

it.each([
  ["the bucket's, which ours is ahead of", -5_000, "2026-04-30T23:59:55Z"],
  ["ours, which is behind the bucket's", 5_000, "2026-05-01T00:00:00Z"],
  ["ours, which is the bucket's, too", 0, "2026-05-01T00:00:00Z"],
])("the time of a replica is %s", (_, skew, expected) => {
  expect(new ReplicaClock({ skew }).now()).toEqual(new Date(expected));
});
