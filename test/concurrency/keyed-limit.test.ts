import { expect, it } from "vitest";
import { KeyedLimit } from "../../src/concurrency/keyed-limit.ts";

/** Tasks that begin when it is their turn and end on demand. */
function watch(limit: KeyedLimit) {
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const run = (key: string, name: string) =>
    limit.run(key, () => {
      begun.push(name);
      const { promise, resolve } = Promise.withResolvers<void>();
      ends.set(name, resolve);
      return promise;
    });
  const turns = async () => {
    await new Promise((resolve) => setImmediate(resolve));
    return [...begun];
  };
  return { run, turns, end: (name: string) => ends.get(name)?.() };
}

it("leaves a place to another key, and gives what ended to the next of its own", async () => {
  const limit = new KeyedLimit(3, 2);
  const { run, turns, end } = watch(limit);
  for (let n = 0; n < 20; n++) void run("slow", `slow${n}`);
  void run("other", "other");
  expect(await turns()).toEqual(["slow0", "slow1", "other"]);
  expect(limit.pendingCount).toBe(18);
  end("slow1");
  expect(await turns()).toEqual(["slow0", "slow1", "other", "slow2"]);
});

it("keeps to the number of all, goes on after a failure, and begins nothing once its queue is cleared", async () => {
  const limit = new KeyedLimit(3, 2);
  const { run, turns, end } = watch(limit);
  const failing = limit.run("bad", () => Promise.reject(new Error("bad")));
  await expect(failing).rejects.toThrow("bad");
  for (let n = 0; n < 5; n++) void run(`key${n}`, `task${n}`);
  expect(await turns()).toEqual(["task0", "task1", "task2"]);
  end("task0");
  expect(await turns()).toHaveLength(4);
  limit.clearQueue();
  end("task1");
  expect(await turns()).toHaveLength(4);
});
