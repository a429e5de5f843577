import { describe, expect, it } from "vitest";
import { effort } from "../../effort.ts";
import { scratch, startMirror } from "../../running-mirror.ts";
import { measureHealth } from "../../scenes/health-client.ts";
import {
  countRecords,
  plantPackageHash,
  plantNamespace,
} from "../../scenes/planted-records.ts";
import { runCommand } from "../../scenes/provider-requests.ts";

/** Records of each kind. PROVENDER_EFFORT=20 makes it 100 000 in all. */
const each = 2_500 * effort;

describe(`a store of ${2 * each} records`, { timeout: 600_000 }, () => {
  it("starts at once, counts and clears up while it answers, and is pruned in reasonable time", async () => {
    const directory = scratch("many-records");
    for (let n = 0; n < each; n++) {
      plantPackageHash(directory, `many ${n}`);
      plantNamespace(directory, `many${n}`);
    }
    const config = { storage: { directory, maxSize: "1MiB", minFree: 0 } };
    const start = performance.now();
    const mirror = await startMirror({ directory, config });
    const started = performance.now() - start;
    const { result: cleared, times } = await measureHealth(mirror, async () => {
      const isDone = () => countRecords(directory, "package-hashes") === 0;
      await expect.poll(isDone, { timeout: 500_000, interval: 500 }).toBe(true);
      return performance.now() - start - started;
    });
    await mirror.stop();
    for (let n = 0; n < each; n++) plantPackageHash(directory, `again ${n}`);
    const before = performance.now();
    const run = await runCommand(mirror, "prune");
    const pruned = performance.now() - before;
    console.log(
      `${2 * each} records: start ${Math.round(started)} ms, counted and cleared in the background in ${Math.round(cleared)} ms with /healthz p99 ${Math.round(times.p99)} ms of ${times.count}, prune ${Math.round(pruned)} ms`,
    );
    expect(run.stdout).toContain(`${each} records of archives`);
    expect(countRecords(directory, "package-hashes")).toBe(0);
    expect(countRecords(directory, "trust")).toBe(each);
    expect(started).toBeLessThan(10_000);
    // The first answers of a process that has just started are among them.
    expect(times.p99).toBeLessThan(250);
  });
});
