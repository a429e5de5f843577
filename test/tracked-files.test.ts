import { execFileSync } from "node:child_process";
import { lstatSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";

const cwd = join(import.meta.dirname, "..");

it("tracks no file over 1 MiB: what is built is released, not committed", () => {
  const listed = execFileSync("git", ["ls-files", "-z"], { cwd }).toString();
  expect(listed).toContain("package.json\0");
  const large = listed.split("\0").filter((path) => {
    // One that is deleted and not yet committed has no size.
    const found = lstatSync(join(cwd, path), { throwIfNoEntry: false });
    return (found?.size ?? 0) > 1024 * 1024;
  });
  expect(large).toEqual([]);
});
