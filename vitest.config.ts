import { defineConfig } from "vitest/config";

/** Runs with `npm run check`. */
const house = ["test/architecture.test.ts", "test/words.test.ts"];

/** Measures time or memory, and so runs alone. */
const measured = ["test/**/*.measured.test.ts"];

/** Needs packages, containers, Ceph, browsers or every client, or takes a minute. */
const release = [
  "test/acceptance/!(network-mirror).test.ts",
  "test/packaging/**/*.test.ts",
  "test/store/bucket/**/*.test.ts",
  "test/mirror/cache/unknown-providers.test.ts",
  "test/model/{daemon-model,model}.test.ts",
  "test/server/web/pages-in-chromium.test.ts",
  "test/{demo,pack,soak,systemd}.test.ts",
];

const all = ["test/**/*.test.ts"];

export default defineConfig({
  test: {
    globalSetup: "test/scratch-folder.ts",
    testTimeout: 30_000,
    hookTimeout: 60_000,
    // Tests wait for processes and timers for half of their time: three keep two cores busy.
    maxWorkers: 3,
    // What has to come within a time says so itself; everything else has as long as it takes on a busy machine.
    expect: { poll: { timeout: 10_000 } },
    projects: [
      lane("house", house, []),
      lane("main", all, [...house, ...measured, ...release]),
      lane("release", release, measured),
      lane("measured", measured, []),
    ],
  },
});

function lane(
  name: string,
  include: readonly string[],
  exclude: readonly string[],
) {
  return {
    extends: true as const,
    test: { name, include: [...include], exclude: [...exclude] },
  };
}
