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

it("leaves a place to another key, however long the queue of the first", async () => {
  const limit = new KeyedLimit(3, 2);
  const { run, turns } = watch(limit);
  for (let n = 0; n < 20; n++) void run("slow", `slow${n}`);
  void run("other", "other");
  expect(await turns()).toEqual(["slow0", "slow1", "other"]);
  expect(limit.pendingCount).toBe(18);
});

it("gives the place of what ended to the next of its key, in order", async () => {
  const { run, turns, end } = watch(new KeyedLimit(3, 2));
  for (let n = 0; n < 4; n++) void run("slow", `slow${n}`);
  await turns();
  end("slow1");
  expect(await turns()).toEqual(["slow0", "slow1", "slow2"]);
});

it("keeps to the number of all, and goes on after a task that failed", async () => {
  const limit = new KeyedLimit(3, 2);
  const { run, turns, end } = watch(limit);
  const failing = limit.run("bad", () => Promise.reject(new Error("bad")));
  await expect(failing).rejects.toThrow("bad");
  for (let n = 0; n < 5; n++) void run(`key${n}`, `task${n}`);
  expect(await turns()).toEqual(["task0", "task1", "task2"]);
  end("task0");
  expect(await turns()).toHaveLength(4);
});

it("begins nothing more once its queue is cleared", async () => {
  const limit = new KeyedLimit(2, 1);
  const { run, turns, end } = watch(limit);
  for (const key of ["a", "a", "b", "c"]) void run(key, key);
  await turns();
  limit.clearQueue();
  end("a");
  end("b");
  expect(await turns()).toEqual(["a", "b"]);
});
