import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { describe, expect, it } from "vitest";
import { scratch } from "./running-mirror.ts";
import { endingWithTests } from "./child-process.ts";

const demo = join(import.meta.dirname, "..", "demo", "demo.ts");

/** `npm run demo` with the clients that are on this PATH. */
async function runDemo(path: string) {
  const folder = scratch("demo-test");
  const child = spawn(...endingWithTests(process.execPath, [demo]), {
    env: { PATH: path, HOME: folder, TMPDIR: folder },
    stdio: ["ignore", "pipe", "ignore"],
  });
  const [output, [status]] = await Promise.all([
    text(child.stdout),
    once(child, "exit") as Promise<[number | null]>,
  ]);
  return { output, status, left: readdirSync(folder) };
}

describe("the demo", () => {
  it.each([
    ["what is on PATH", process.env.PATH ?? ""],
    ["neither terraform nor tofu", dirname(process.execPath)],
  ])(
    "keeps every promise with %s, and leaves nothing behind",
    async (_, path) => {
      const { output, status, left } = await runDemo(path);
      expect(output).not.toMatch(/^ +NOT /m);
      expect(output.match(/^ +ok +installed in \d+ ms/gm)).toHaveLength(3);
      expect(output).toMatch(/good signature of [0-9A-F]{40}$/m);
      expect(output).toMatch(/requests to the origin: .*\b1 archive$/m);
      expect(output).toMatch(/requests to the origin: none$/m);
      expect(output).toContain("Everything was as promised");
      expect(status).toBe(0);
      expect(left).toEqual([]);
    },
  );
});
