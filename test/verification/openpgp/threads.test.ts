import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { TooBusy } from "../../../src/errors/index.ts";
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

  it("refuse 50 MB of armor", async () => {
    const keys = [armor(Buffer.alloc(37_000_000))];
    const decision = await threads.decide({ ...good, keys });
    expect(decision).toMatchObject({ accepted: false, reason: "limits" });
  });

  it("end a slow one at the deadline, and decide the next one", async () => {
    await expect(threads.decide(slowQuestion())).rejects.toThrow(
      SignatureDeadlinePassed,
    );
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
  await expect(
    Promise.all([Promise.resolve(), threads.decide(good)]),
  ).rejects.toThrow(TooBusy);
  await threads.close();
  expect(await Promise.all(waiting)).toContain("ended");
});

it("tell a thread that crashed for want of memory from one that was ended", async () => {
  const threads = new SignatureThreads({
    threads: 1,
    deadlineMs: 10_000,
    memoryMiB: 6,
  });
  await expect(threads.decide(good)).rejects.toThrow(SignatureThreadCrashed);
  await threads.close();
});
