import { expect, it } from "vitest";
import { inTime, untilAborted } from "../../src/concurrency/in-time.ts";

const never = new Promise<never>(() => undefined);

it("passes on what comes in time, also undefined and failures", async () => {
  const late = () => "late";
  expect(await inTime(Promise.resolve(undefined), 60_000, late)).toBe(
    undefined,
  );
  await expect(
    inTime(Promise.reject(new Error("no")), 60_000, late),
  ).rejects.toThrow("no");
});

it("lets the caller return or throw what it wants of what is late", async () => {
  expect(await inTime(never, 1, () => "late")).toBe("late");
  await expect(
    inTime(never, 1, () => {
      throw new Error("late");
    }),
  ).rejects.toThrow("late");
});

it("leaves no rejection unhandled that comes too late", async () => {
  const { promise, reject } = Promise.withResolvers<never>();
  expect(await inTime(promise, 1, () => "late")).toBe("late");
  reject(new Error("too late"));
  await new Promise(setImmediate);
});

it("waits until the signal aborts, and not at all when it has", async () => {
  const reason = new Error("left");
  await expect(untilAborted(never, AbortSignal.abort(reason))).rejects.toBe(
    reason,
  );
  const controller = new AbortController();
  const waiting = untilAborted(never, controller.signal);
  controller.abort(reason);
  await expect(waiting).rejects.toBe(reason);
});
