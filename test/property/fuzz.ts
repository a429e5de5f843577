import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";

// npm run fuzz -- --minutes N: every property of this folder, with as many tries as fit into the time.

const { values } = parseArgs({
  options: { minutes: { type: "string", default: "5" } },
});
const minutes = Number(values.minutes);
if (!(minutes > 0)) throw new RangeError("--minutes N: expected a number.");

const folder = import.meta.dirname;
const properties = readdirSync(folder)
  .filter((name) => name.endsWith(".test.ts"))
  .map((name) => readFileSync(join(folder, name), "utf8"))
  .reduce((sum, text) => sum + text.split("holds(\n").length - 1, 0);
// Two workers share the files.
const seed = Date.now() % 2 ** 31;
const each = Math.ceil((2 * minutes * 60_000) / properties);
const { status } = spawnSync("vitest", ["run", folder], {
  stdio: "inherit",
  env: {
    ...process.env,
    PROVENDER_FUZZ_MS: String(each),
    PROVENDER_SEED: String(seed),
  },
});
process.exitCode = status ?? 1;
