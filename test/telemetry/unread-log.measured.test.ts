import { spawn } from "node:child_process";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { expect, it } from "vitest";
import { endingWithTests } from "../child-process.ts";

const logger = join(import.meta.dirname, "../../src/telemetry/logger.ts");

it.each([
  ["long lines", 100_000, 2_000],
  ["short lines", 1_000, 250_000],
])(
  "an unread log takes bounded memory however many %s it has",
  async (_, length, count) => {
    const program = `
      import { makeLogger } from ${JSON.stringify(logger)};
      import { writeSync } from "node:fs";
      const log = makeLogger({ level: "info" });
      const text = "x".repeat(${length});
      for (let n = 0; n < ${count}; n++) {
        log.info({ n, text }, "n");
        if (n % 100 === 0) await new Promise(setImmediate);
      }
      writeSync(1, String(process.memoryUsage().rss));
      process.kill(process.pid, "SIGKILL");`;
    const args = ["--input-type=module", "--eval", program];
    const child = spawn(...endingWithTests(process.execPath, args), {
      stdio: ["ignore", "pipe", "pipe"],
    });
    const rss = Number(await text(child.stdout));
    expect(rss).toBeGreaterThan(0);
    expect(rss / 2 ** 20).toBeLessThan(300);
  },
  60_000,
);
