import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const root = mkdtempSync(join(tmpdir(), "provender-bench-"));
process.once("exit", () => rmSync(root, { recursive: true, force: true }));

/** A new folder that is gone when the benchmark is. */
export function scratch(name: string): string {
  return mkdtempSync(join(root, `${name}-`));
}
