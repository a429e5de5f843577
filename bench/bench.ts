import { parseArgs } from "node:util";
import { findProgram } from "./programs.ts";
import { Scene, type Effort, type Row } from "./row.ts";
import { coldArchive } from "./rows/cold-archive.ts";
import { coldCrowd } from "./rows/cold-crowd.ts";
import { coldVersion } from "./rows/cold-version.ts";
import { init } from "./rows/init.ts";
import { largeChecksums } from "./rows/large-checksums.ts";
import { lock } from "./rows/lock.ts";
import { manyArchives } from "./rows/many-archives.ts";
import { packageHash } from "./rows/package-hash.ts";
import { prefetch } from "./rows/prefetch.ts";
import { warmArchive } from "./rows/warm-archive.ts";
import { warmIndex } from "./rows/warm-index.ts";
import {
  describeMachine,
  formatMachine,
  formatResult,
  type Result,
} from "./table.ts";

const rows: readonly Row[] = [
  warmIndex,
  warmArchive,
  coldArchive,
  coldCrowd,
  coldVersion,
  largeChecksums,
  init,
  prefetch,
  packageHash,
  lock,
  manyArchives,
];

const usage = `npm run bench -- [--rows NAME,NAME] [--quick] [--json]
  rows: ${rows.map(({ name }) => name).join(", ")}
`;

/** A row that hangs must not hold up the others for ever. */
const longest = 240_000;

async function measure(row: Row, effort: Effort): Promise<Result> {
  const missing = row.needs.filter((name) => findProgram(name) === undefined);
  if (missing.length > 0)
    return {
      row,
      remarks: [],
      skipped: `${missing.join(" and ")} is not installed`,
    };
  await using scene = new Scene();
  try {
    const late = AbortSignal.timeout(longest);
    const figures = await Promise.race([
      row.run(effort, scene),
      new Promise<never>((_, reject) =>
        late.addEventListener("abort", () =>
          reject(new Error(`not done after ${longest / 1000} s`)),
        ),
      ),
    ]);
    return { row, remarks: scene.remarks, figures };
  } catch (error) {
    return { row, remarks: scene.remarks, failed: (error as Error).message };
  }
}

function parseOptions() {
  const { values } = parseArgs({
    options: {
      rows: { type: "string" },
      quick: { type: "boolean", default: false },
      json: { type: "boolean", default: false },
      help: { type: "boolean", default: false },
    },
  });
  const names = values.rows?.split(",") ?? rows.map(({ name }) => name);
  const unknown = names.filter(
    (name) => !rows.some((row) => row.name === name),
  );
  if (unknown.length > 0) throw new Error(`no such row: ${unknown.join(", ")}`);
  return { ...values, chosen: rows.filter(({ name }) => names.includes(name)) };
}

async function run(): Promise<void> {
  const { quick, json, help, chosen } = parseOptions();
  if (help) {
    process.stdout.write(usage);
    return;
  }
  const effort = quick
    ? { quick, rounds: 1, seconds: 1, archives: 1_000 }
    : { quick, rounds: 3, seconds: 3, archives: 100_000 };
  const machine = describeMachine();
  const say = (text: string) => {
    if (!json) process.stdout.write(`${text}\n\n`);
  };
  say(formatMachine(machine));
  const results: Result[] = [];
  for (const row of chosen) {
    const result = await measure(row, effort);
    results.push(result);
    say(formatResult(result));
  }
  const rows = results.map(({ row, ...result }) => ({ ...row, ...result }));
  if (json)
    process.stdout.write(`${JSON.stringify({ machine, rows }, null, 2)}\n`);
  if (results.some((result) => "failed" in result)) process.exitCode = 1;
}

try {
  await run();
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n${usage}`);
  process.exitCode = 2;
}
// What a row that failed left running ends with it.
process.exit();
