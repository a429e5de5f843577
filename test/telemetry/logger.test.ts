import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { expect, it } from "vitest";

const logger = join(import.meta.dirname, "../../src/telemetry/logger.ts");
const many = 1_000;

it.each([
  ["exits", "process.exit(3)", 3],
  ["fails", "throw new Error('for nothing')", 1],
  ["has nothing left to do", "", 0],
  [
    "exits while lines are being written",
    "setTimeout(() => { log.info({ n: last }, 'n'); process.exit(4); }, 60)",
    4,
  ],
])("has every line once of a process that %s", (_, ending, status) => {
  const program = `
      import { makeLog } from ${JSON.stringify(logger)};
      const { logger: log } = makeLog({ level: "info", format: "json" });
      const last = ${many};
      for (let n = 0; n < last; n++) log.info({ n }, "n");
      ${ending}`;
  const run = spawnSync(
    process.execPath,
    ["--input-type=module", "--eval", program],
    { encoding: "utf8" },
  );
  const lines = run.stderr.split("\n").filter((one) => one.startsWith("{"));
  const numbers = lines
    .map((line) => (JSON.parse(line) as { n: number }).n)
    // The end overtakes a write that is under way; lines have their time.
    .toSorted((one, other) => one - other);
  const extra = status === 4 ? 1 : 0;
  expect(numbers).toEqual(Array.from({ length: many + extra }, (_, n) => n));
  expect(run.status).toBe(status);
});
