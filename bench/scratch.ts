import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { scratch } from "../test/running-mirror.ts";

export { scratch };

/** All that a run leaves behind lies in it, and is gone when the benchmark is. */
const root = mkdtempSync(join(tmpdir(), "provender-bench-"));
process.env.TMPDIR = root;
process.once("exit", () => rmSync(root, { recursive: true, force: true }));

/** A file with these authorities in it. */
export function keepCa(pem: string): string {
  const file = join(scratch("ca"), "ca.pem");
  writeFileSync(file, pem);
  return file;
}
