import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    globalSetup: "test/scratch-folder.ts",
    testTimeout: 30_000,
    hookTimeout: 60_000,
    // Tests wait for processes and timers for half of their time: three keep two cores busy.
    maxWorkers: 3,
    // What has to come within a time says so itself; everything else has as long as it takes on a busy machine.
    expect: { poll: { timeout: 10_000 } },
  },
});
