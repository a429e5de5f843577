import { execFile } from "node:child_process";
import { join } from "node:path";
import { expect, it } from "vitest";

const program = join(import.meta.dirname, "..", "soak", "soak.ts");

it(
  "a soak of a few seconds finds nothing wrong",
  { timeout: 120_000 },
  async () => {
    const { status, stdout } = await new Promise<{
      readonly status: number | null;
      readonly stdout: string;
    }>((resolve) => {
      const child = execFile(
        process.execPath,
        [program, "--minutes", "0.05"],
        (_, printed) => resolve({ status: child.exitCode, stdout: printed }),
      );
    });
    expect(stdout).toMatch(/^ {2}wrong bytes +0 +≤ 0: met$/m);
    expect(stdout).not.toContain("NOT MET");
    expect(status).toBe(0);
  },
);
