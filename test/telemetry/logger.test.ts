import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { expect, it } from "vitest";
import { endingWithTests } from "../child-process.ts";

const logger = join(import.meta.dirname, "../../src/telemetry/logger.ts");
const many = 1_000;

/** Arguments of a process that logs, as this program says. */
const logging = (program: string) => [
  ...["--input-type=module", "--eval"],
  `import { makeLogger } from ${JSON.stringify(logger)};
   const log = makeLogger({ level: "info" });
   ${program}`,
];

it.each([
  ["exits", "process.exit(3)", 3],
  ["fails", "throw new Error('for nothing')", 1],
  ["has nothing left to do", "", 0],
  [
    "exits while lines are being written",
    "setTimeout(() => { log.info({ n: last }, 'n'); process.exit(4); }, 60)",
    4,
  ],
  [
    "ends while its threads are busy",
    `const { pbkdf2 } = process.getBuiltinModule("node:crypto");
      const work = () => pbkdf2("a", "b", 20_000, 64, "sha512", () => {});
      process.prependOnceListener("exit", () => [1, 2, 3, 4].map(work));`,
    0,
  ],
])("has every line once of a process that %s", (_, ending, status) => {
  const args = logging(`
    const last = ${many};
    for (let n = 0; n < last; n++) log.info({ n }, "n");
    ${ending}`);
  const run = spawnSync(process.execPath, args, { encoding: "utf8" });
  const lines = run.stderr.split("\n").filter((one) => one.startsWith("{"));
  const numbers = lines
    .map((line) => (JSON.parse(line) as { n: number }).n)
    // The end overtakes a write that is under way; lines have their time.
    .toSorted((one, other) => one - other);
  const extra = status === 4 ? 1 : 0;
  expect(numbers).toEqual(Array.from({ length: many + extra }, (_, n) => n));
  expect(run.status).toBe(status);
});

it.each([
  ["goes on", "setTimeout(() => process.exit(3), 300)", 3],
  ["exits", "process.exit(4)", 4],
  ["has nothing left to do", "", 0],
])(
  "a log that a full disk does not take ends no process that %s",
  (_, ending, status) => {
    const full = openSync("/dev/full", "w");
    const run = spawnSync(
      process.execPath,
      logging(`log.info("one"); ${ending}`),
      {
        stdio: ["ignore", "pipe", full],
        timeout: 10_000,
        killSignal: "SIGKILL",
      },
    );
    closeSync(full);
    expect([run.status, run.signal]).toEqual([status, null]);
  },
);

it("says how many lines were not read in time", async () => {
  const many = 600;
  const args = logging(`
    const text = "x".repeat(100_000);
    for (let n = 0; n < ${many}; n++) log.info({ n, text }, "n");
    setTimeout(() => process.stdout.write("logged"), 200);
    process.stdin.resume();`);
  const child = spawn(...endingWithTests(process.execPath, args), {
    stdio: ["pipe", "pipe", "pipe"],
  });
  await once(child.stdout, "data");
  const lines: { n?: number; dropped?: number }[] = [];
  for await (const line of createInterface(child.stderr)) {
    lines.push(JSON.parse(line) as (typeof lines)[number]);
    if ("dropped" in (lines.at(-1) ?? {})) child.stdin.end();
  }
  const read = lines.filter(({ n }) => n !== undefined).length;
  const [{ dropped = 0 } = {}] = lines.filter((line) => "dropped" in line);
  expect(read).toBeGreaterThan(100);
  expect([dropped > 0, dropped + read]).toEqual([true, many]);
});
