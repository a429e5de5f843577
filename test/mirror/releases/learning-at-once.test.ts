import {
  afterAll,
  afterEach,
  beforeEach,
  describe,
  expect,
  it,
  vi,
} from "vitest";
import { parsePlatform } from "../../../src/address/platform.ts";
import { failing } from "../../scenes/failing.ts";
import { WatchedThreads, zipOf } from "../../scenes/hashed-archives.ts";
import {
  linux,
  prepareLearning,
  release,
  releaseOf,
  sending,
  steered,
} from "../../scenes/learnt-digests.ts";

const threads = new WatchedThreads();
beforeEach(() => threads.reset());
afterEach(() => void vi.useRealTimers());
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

describe("archives that come slowly", () => {
  const pass = async (ms: number) => {
    await vi.advanceTimersByTimeAsync(ms);
    await settleReally();
  };
  const { setTimeout: later } = globalThis;
  const settleReally = () => new Promise((resolve) => later(resolve, 30));
  beforeEach(
    () =>
      void vi.useFakeTimers({
        toFake: ["setInterval", "clearInterval", "performance"],
      }),
  );

  /** Starts slow downloads, and finds out whether another begins within `ms`. */
  async function waitBehind(
    ms: number,
    slow: readonly [ReturnType<typeof releaseOf>, string][],
    waiting: ReturnType<typeof releaseOf>,
  ) {
    const { learn, learning } = await prepareLearning(threads, { fills: 2 });
    const running = slow.map(([address, host], n) => {
      const one = steered(host, h1);
      const platform = n === 0 ? linux : darwin;
      return { ...one, done: learn(one.origin, [h1], address, platform) };
    });
    await settleReally();
    const next = sending(bytes, h1);
    const last = learn(next, [h1], waiting, windows);
    await pass(ms);
    const isIn = next.asked.length > 0;
    const finish = async () => {
      for (const { send, end } of running) {
        send(bytes);
        end();
      }
      await Promise.all([last, ...running.map(({ done }) => done)]);
      await learning.close();
    };
    return { isIn, finish, running, last };
  }

  const one = releaseOf("one.example.com");
  const two = releaseOf("two.example.com");
  const three = releaseOf("three.example.com");

  it.each([
    [
      "have as many places as who waits, for half a minute",
      29_000,
      [
        [one, "one"],
        [two, "two"],
      ],
      three,
      false,
    ],
    [
      "have as many places as who waits, and no longer",
      31_000,
      [
        [one, "one"],
        [two, "two"],
      ],
      three,
      true,
    ],
    [
      "come from one host, for a few seconds",
      6_000,
      [
        [one, "files"],
        [two, "files"],
      ],
      three,
      true,
    ],
    [
      "are of one namespace, for a few seconds",
      6_000,
      [
        [one, "a"],
        [one, "b"],
      ],
      releaseOf("one.example.com", "other"),
      true,
    ],
  ] as const)(
    "keep their places while they %s, and are learnt all the same",
    async (_, ms, slow, waiting, expected) => {
      const { isIn, finish } = await waitBehind(
        ms,
        [...slow] as never,
        waiting,
      );
      expect(isIn).toBe(expected);
      await finish();
    },
  );

  it("stand still while another one has their place", async () => {
    const { learn } = await prepareLearning(threads, { fills: 1 });
    const slow = steered(undefined, h1);
    const other = steered(undefined, h1);
    const first = learn(slow.origin, [h1], one);
    await settleReally();
    const second = learn(other.origin, [h1], two);
    await pass(31_000);
    expect(other.origin.asked).toHaveLength(1);
    slow.send(bytes.subarray(0, 20));
    slow.send(bytes.subarray(20));
    slow.end();
    await expect.poll(() => slow.origin.taken).toBe(1);
    await settleReally();
    expect(slow.origin.taken).toBe(1);
    other.send(bytes);
    other.end();
    await Promise.all([first, second]);
    expect(slow.origin.taken).toBe(2);
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
