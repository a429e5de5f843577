import { execFileSync } from "node:child_process";
import { lstatSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";

const project = join(import.meta.dirname, "..");
const mostBytes = 1024 * 1024;

it("tracks no file over 1 MiB: what is built is released, not committed", () => {
  const tracked = execFileSync("git", ["ls-files", "-z"], { cwd: project })
    .toString()
    .split("\0")
    .filter((path) => path !== "");
  expect(tracked).toContain("package.json");
  const large = tracked.filter((path) => sizeOf(path) > mostBytes);
  expect(large).toEqual([]);
});

/** Returns 0 for a file that is deleted and not yet committed. */
function sizeOf(path: string): number {
  const file = join(project, path);
  return lstatSync(file, { throwIfNoEntry: false })?.size ?? 0;
}
