import { spawnSync } from "node:child_process";
import { groups } from "./lanes.ts";
import { findOnPath } from "./on-path.ts";

// Runs the groups that are named, or all, one after the other, and says at the end what was not tested.

const named = process.argv.slice(2);
const unknown = named.filter((name) => groups[name] === undefined);
if (unknown.length > 0) {
  console.error(`There is no group ${unknown.join(", ")}. Groups:\n`);
  for (const [name, { holds, needs }] of Object.entries(groups))
    console.error(`  ${name.padEnd(10)}${holds}\n${needsOf(needs)}`);
  process.exit(2);
}

const results: string[] = [];
let failed = false;
for (const [name, group] of Object.entries(groups)) {
  if (named.length > 0 && !named.includes(name)) continue;
  const missing = group.needs.filter((name) => findOnPath(name) === undefined);
  if (missing.length > 0) {
    console.error(
      `\n${name}: NOT TESTED with ${missing.join(", ")}: not on PATH.`,
    );
  }
  if (missing.length > 0 && missing.length === group.needs.length) {
    results.push(`${name}: SKIPPED, it needs ${missing.join(", ")}`);
    continue;
  }
  const workers = group.alone ? ["--max-workers", "1"] : [];
  const { status } = spawnSync(
    process.execPath,
    ["node_modules/vitest/vitest.mjs", "run", "--project", name, ...workers],
    { stdio: "inherit" },
  );
  failed ||= status !== 0;
  const without = missing.length > 0 ? `, without ${missing.join(", ")}` : "";
  results.push(`${name}: ${status === 0 ? "passed" : "FAILED"}${without}`);
}
console.log(`\n${results.join("\n")}`);
process.exitCode = failed ? 1 : 0;

function needsOf(needs: readonly string[]): string {
  return needs.length > 0 ? `${" ".repeat(12)}needs ${needs.join(", ")}\n` : "";
}
