import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    globalSetup: "test/scratch-folder.ts",
    testTimeout: 30_000,
    hookTimeout: 60_000,
    // Tests start daemons, workers and TLS servers; two cores are assumed.
    maxWorkers: 2,
    // What has to come within a time says so itself; everything else has as long as it takes on a busy machine.
    expect: { poll: { timeout: 10_000 } },
  },
});
