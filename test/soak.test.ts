import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";

const program = join(import.meta.dirname, "..", "soak", "soak.ts");

it("a soak of a few seconds finds nothing wrong", async () => {
  // Rejects for another exit status than 0.
  const args = [program, "--minutes", "0.05"];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  expect(stdout).toMatch(/^ {2}wrong bytes +0 +≤ 0: met$/m);
  expect(stdout).not.toContain("NOT MET");
});
