import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { failing } from "../../scenes/failing.ts";
import {
  SignatureDeadlinePassed,
  SignatureThreadCrashed,
  SignatureThreads,
} from "../../../src/verification/openpgp/threads.ts";
import { document } from "./certificates.ts";
import { armor } from "./forge.ts";
import { fingerprint, good, slowQuestion } from "./slow-question.ts";

describe("signature threads", () => {
  let threads: SignatureThreads;

  beforeAll(() => {
    threads = new SignatureThreads({ threads: 1, deadlineMs: 300 });
  });
  afterAll(() => threads.close());

  it("decide like decideSignature", async () => {
    expect(await threads.decide(good)).toMatchObject({
      accepted: true,
      signedBy: fingerprint,
      createdAt: expect.any(Date) as unknown,
    });
    expect(
      await threads.decide({ ...good, document: Buffer.from("other") }),
    ).toMatchObject({
      accepted: false,
      reason: "bad-signature",
    });
  });

  it("take only what a view shows", async () => {
    const behind = Buffer.concat([
      Buffer.alloc(64),
      document,
      Buffer.alloc(64),
    ]);
    const view = behind.subarray(64, -64);
    expect(await threads.decide({ ...good, document: view })).toMatchObject({
      accepted: true,
    });
  });

  it("refuse 50 MB of armor, for which they need no thread", async () => {
    const keys = [armor(Buffer.alloc(37_000_000))];
    const ended = new SignatureThreads({ threads: 1, deadlineMs: 300 });
    await ended.close();
    const decision = await ended.decide({ ...good, keys });
    expect(decision).toMatchObject({ accepted: false, reason: "limits" });
  });

  const begin = "-----BEGIN PGP PUBLIC KEY BLOCK-----\n\n";
  it.each([
    ["empty lines", "", "\n"],
    ["lines of a blank", "", " \n"],
    ["empty lines of data", begin, "\n"],
    ["lines of one letter", begin, "A\n"],
    ["a line that does not end", begin, "A"],
  ])(
    "read 2 MiB of %s in the memory and time of a decision",
    async (_, head, line) => {
      const most = 2 * 1024 * 1024;
      const times = Math.floor((most - head.length) / line.length);
      const patient = new SignatureThreads({ threads: 1, deadlineMs: 2_000 });
      const keys = [`${head}${line.repeat(times)}`];
      const decision = await patient.decide({ ...good, keys });
      await patient.close();
      expect(decision).toMatchObject({ accepted: false });
    },
  );

  it("end a slow one at the deadline, and decide the next one", async () => {
    const ended = threads.decide(slowQuestion());
    await expect(ended).rejects.toThrow(SignatureDeadlinePassed);
    await expect(ended).rejects.toMatchObject({
      deadlineMs: 300,
      message: "no decision within 300 ms",
    });
    expect(await threads.decide(good)).toMatchObject({ accepted: true });
  });

  it("count the deadline from when a thread begins, not from the question", async () => {
    const slow = slowQuestion();
    const [first, ...others] = await Promise.allSettled([
      threads.decide(slow),
      threads.decide(slow),
      threads.decide(good),
    ]);
    expect(first.status).toBe("rejected");
    expect(others.map(({ status }) => status)).toEqual([
      "rejected",
      "fulfilled",
    ]);
  });
});

it("let 1024 wait and turn the next one away", async () => {
  const threads = new SignatureThreads({ threads: 1, deadlineMs: 10_000 });
  const waiting = Array.from({ length: 1025 }, () =>
    threads.decide(good).catch(() => "ended"),
  );
  const refusal = Promise.all([Promise.resolve(), threads.decide(good)]);
  await expect(refusal).rejects.toThrow(failing("too-busy"));
  await expect(refusal).rejects.toThrow("signatures to verify");
  await threads.close();
  expect(await Promise.all(waiting)).toContain("ended");
});

it("tell a thread that crashed for want of memory from one that was ended", async () => {
  const threads = new SignatureThreads({
    threads: 1,
    deadlineMs: 10_000,
    memoryMiB: 6,
  });
  const crashed = threads.decide(good);
  await expect(crashed).rejects.toThrow(SignatureThreadCrashed);
  await expect(crashed).rejects.toThrow("the thread crashed");
  await threads.close();
});

it.each([
  ["what is under way and what waits, at once", 2],
  ["nothing where nothing is asked of them", 0],
])("end %s, and decide nothing afterwards", async (_, tasks) => {
  const threads = new SignatureThreads({ threads: 1, deadlineMs: 30_000 });
  if (tasks > 0) await threads.decide(good);
  const slow = slowQuestion();
  const before = process.cpuUsage();
  const begun = Array.from({ length: tasks }, () =>
    threads.decide(slow).catch((error: unknown) => error),
  );
  // One is under way once the thread has worked for 50 ms.
  if (tasks > 0)
    await expect.poll(() => process.cpuUsage(before).user).toBeGreaterThan(5e4);
  await threads.close();
  for (const ended of await Promise.all(begun))
    expect(ended).toBeInstanceOf(SignatureThreadCrashed);
  const late = threads.decide(good);
  await expect(late).rejects.toThrow(SignatureThreadCrashed);
  await expect(late).rejects.toThrow("the threads ended");
});

it("leave no timers behind when they have decided", async () => {
  const threads = new SignatureThreads({ threads: 1, deadlineMs: 30_000 });
  await threads.decide(good);
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  try {
    await threads.decide(good);
    expect(vi.getTimerCount()).toBe(0);
  } finally {
    vi.useRealTimers();
    await threads.close();
  }
});
