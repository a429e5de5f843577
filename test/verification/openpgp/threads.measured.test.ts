import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  SignatureDeadlinePassed,
  SignatureThreads,
} from "../../../src/verification/openpgp/threads.ts";
import { armor } from "./forge.ts";
import { good, slowQuestion } from "./slow-question.ts";

describe("signature threads", () => {
  let threads: SignatureThreads;

  beforeAll(() => {
    threads = new SignatureThreads({ threads: 1, deadlineMs: 300 });
  });
  afterAll(() => threads.close());

  it("refuse 50 MB of armor without taking it along", async () => {
    const keys = [armor(Buffer.alloc(37_000_000))];
    const start = performance.now();
    const decision = await threads.decide({ ...good, keys });
    expect(decision).toMatchObject({ accepted: false, reason: "limits" });
    expect(performance.now() - start).toBeLessThan(2_000);
  });

  it("end a slow one at the deadline, and leave the event loop alone until then", async () => {
    await threads.decide(good);
    const slow = slowQuestion();
    const start = performance.now();
    const before = process.threadCpuUsage();
    await expect(threads.decide(slow)).rejects.toThrow(SignatureDeadlinePassed);
    const { user, system } = process.threadCpuUsage(before);
    const took = performance.now() - start;
    const worked = (user + system) / 1000;
    console.log(
      `ended after ${Math.round(took)} ms, of which this thread worked ${worked.toFixed(1)} ms`,
    );
    expect(took).toBeGreaterThan(290);
    expect(took).toBeLessThan(3_000);
    expect(worked).toBeLessThan(50);
  });
});
