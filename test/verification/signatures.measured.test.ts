import { expect, it, onTestFinished } from "vitest";
import { SignatureThreads } from "../../src/verification/signatures.ts";
import { askHugeDsa, good } from "./signature-questions.ts";

it("a slow decision ends at the deadline, leaves this thread alone until then, and the next one is made", async () => {
  const threads = new SignatureThreads({ threads: 1, deadlineMs: 2_000 });
  onTestFinished(() => threads.close());
  await threads.decide(good);
  const slow = askHugeDsa();
  const start = performance.now();
  const before = process.threadCpuUsage();
  await expect(threads.decide(slow)).rejects.toThrow("no decision within");
  const { user, system } = process.threadCpuUsage(before);
  const took = performance.now() - start;
  const worked = (user + system) / 1000;
  console.log(
    `ended after ${Math.round(took)} ms, of which this thread worked ${worked.toFixed(1)} ms`,
  );
  expect(took).toBeGreaterThan(1_990);
  expect(took).toBeLessThan(4_000);
  expect(worked).toBeLessThan(100);
  expect(await threads.decide(good)).toMatchObject({ accepted: true });
});
