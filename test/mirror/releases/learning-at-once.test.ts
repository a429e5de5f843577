import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { parsePlatform } from "../../../src/address/platform.ts";
import { failing } from "../../scenes/failing.ts";
import { WatchedThreads, zipOf } from "../../scenes/hashed-archives.ts";
import {
  prepareLearning,
  release,
  releaseOf,
  sending,
  steered,
} from "../../scenes/learnt-digests.ts";

const threads = new WatchedThreads();
beforeEach(() => threads.reset());
afterAll(() => threads.close());

const { bytes, h1 } = zipOf("a");
const darwin = parsePlatform("darwin_arm64");
const windows = parsePlatform("windows_amd64");
const settle = () => new Promise((resolve) => setTimeout(resolve, 30));
const isSettled = async (promise: Promise<unknown>) => {
  const pending = Symbol("pending");
  const outcome = promise.catch((error: unknown) => error);
  return (
    (await Promise.race([outcome, settle().then(() => pending)])) !== pending
  );
};

describe("many who learn at once", () => {
  it("learn one archive together, also where the queue is full", async () => {
    const { learn } = await prepareLearning(threads, { waiters: 1 });
    const { origin, send, end } = steered(undefined, h1);
    const all = [1, 2, 3].map(() => learn(origin, [h1]));
    send(bytes);
    end();
    await Promise.all(all);
    expect(origin.asked).toHaveLength(1);
    await learn(sending(bytes, h1), [h1]);
  });

  it("are turned away beyond the bound, and let in again below it", async () => {
    const { learn } = await prepareLearning(threads, { waiters: 2 });
    const slow = steered(undefined, h1);
    const running = [
      learn(slow.origin, [h1]),
      learn(slow.origin, [h1], release, darwin),
    ];
    const third = sending(bytes, h1);
    const refusal = learn(third, [h1], release, windows);
    await expect(refusal).rejects.toThrow(failing("too-busy"));
    await expect(refusal).rejects.toThrow(
      "archives whose digests are being learnt",
    );
    expect(third.asked).toEqual([]);
    slow.send(bytes);
    slow.end();
    await Promise.allSettled(running);
    await learn(third, [h1], release, windows);
  });

  it.each([
    ["in all", { fills: 1 }, releaseOf("other.example.com")],
    ["from one hostname", { fillsPerOrigin: 1 }, releaseOf(undefined, "other")],
  ])("take a place each %s", async (_, limits, other) => {
    const { learn } = await prepareLearning(threads, limits);
    const slow = steered(undefined, h1);
    const next = sending(bytes, h1);
    const first = learn(slow.origin, [h1]);
    const second = learn(next, [h1], other);
    await settle();
    expect(next.asked).toEqual([]);
    slow.send(bytes);
    slow.end();
    await Promise.all([first, second]);
    expect(next.asked).toHaveLength(1);
  });

  it("do not take places at other hostnames", async () => {
    const { learn } = await prepareLearning(threads, { fillsPerOrigin: 1 });
    const slow = steered(undefined, h1);
    const first = learn(slow.origin, [h1]);
    await learn(sending(bytes, h1), [h1], releaseOf("other.example.com"));
    slow.send(bytes);
    slow.end();
    await first;
  });

  it("leave their places when they fail", async () => {
    const { learn } = await prepareLearning(threads, { fills: 1 });
    const failure = new Error("the origin failed");
    const openUnnamed = () => Promise.reject(failure);
    await expect(learn({ openUnnamed }, [h1])).rejects.toBe(failure);
    await learn(sending(bytes, h1), [h1]);
  });
});

describe("learning that ends", () => {
  it("is ended where it waits for its origin, and waited for", async () => {
    const { learn, learning } = await prepareLearning(threads);
    const answer = Promise.withResolvers<never>();
    let signal: AbortSignal | undefined;
    const begun = learn(
      {
        openUnnamed: (...asked) => {
          [, , , signal] = asked;
          return answer.promise;
        },
      },
      [h1],
    );
    await settle();
    const closed = learning.close();
    expect(signal?.reason).toEqual(failing("not-ready"));
    expect((signal?.reason as Error).message).toContain("it is stopping");
    expect(await isSettled(closed)).toBe(false);
    answer.reject(signal?.reason);
    await expect(begun).rejects.toThrow(failing("not-ready"));
    await closed;
  });

  it("is ended where its archive comes", async () => {
    const { learn, learning } = await prepareLearning(threads);
    const { origin, send } = steered(undefined, h1);
    const begun = learn(origin, [h1]);
    await settle();
    void learning.close();
    send(bytes);
    await expect(begun).rejects.toThrow(failing("not-ready"));
  });

  it("is ended where it waits for its turn", async () => {
    const { learn, learning } = await prepareLearning(threads, { fills: 1 });
    const slow = steered(undefined, h1);
    const first = learn(slow.origin, [h1]);
    const next = sending(bytes, h1);
    const second = learn(next, [h1], release, darwin);
    const ended = expect(second).rejects.toThrow(failing("not-ready"));
    await settle();
    const closed = learning.close();
    await ended;
    slow.send(bytes);
    await expect(first).rejects.toThrow(failing("not-ready"));
    await closed;
    expect(next.asked).toEqual([]);
  });

  it.each(["right after it began", "before it began"])(
    "asks no origin when it ends %s",
    async (moment) => {
      const { learn, learning } = await prepareLearning(threads);
      const origin = sending(bytes, h1);
      if (moment === "before it began") await learning.close();
      const begun = learn(origin, [h1]);
      const closed = learning.close();
      await expect(begun).rejects.toThrow(failing("not-ready"));
      await closed;
      expect(origin.asked).toEqual([]);
    },
  );
});
