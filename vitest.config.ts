import { defineConfig } from "vitest/config";
import { groups } from "./test/lanes.ts";

/** Runs with `npm run check`. */
const house = ["test/architecture.test.ts"];

const measured = groups.measured?.files ?? [];
const release = Object.values(groups).flatMap(({ files }) => [...files]);

export default defineConfig({
  test: {
    globalSetup: "test/scratch-folder.ts",
    setupFiles: "test/each-file.ts",
    // A test waits for events. These end one that hangs, on a machine with other work, too.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 60_000 } },
    // Tests wait for processes for half of their time: three keep two cores busy.
    maxWorkers: 3,
    projects: [
      lane("house", house, []),
      lane("gate", ["test/**/*.test.ts"], [...house, ...release], false),
      ...Object.entries(groups).map(([name, { files, alone }]) =>
        lane(name, files, alone ? [] : measured),
      ),
    ],
  },
});

function lane(
  name: string,
  include: readonly string[],
  exclude: readonly string[],
  /** Whether each file has a process of its own; what they import takes a second of each. */
  isolate = true,
) {
  return {
    extends: true as const,
    test: { name, isolate, include: [...include], exclude: [...exclude] },
  };
}
