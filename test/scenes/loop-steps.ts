import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { scratch } from "../running-mirror.ts";

const program = join(import.meta.dirname, "loop-steps-process.ts");

/** Longest pauses of a daemon's event loop, independent of other load on the machine. */
export function watchLoopSteps() {
  const file = join(scratch("steps"), "steps");
  const restart = () => writeFileSync(file, "");
  restart();
  return {
    options: {
      env: { LOOP_STEPS: file },
      nodeOptions: ["--import", program],
    },
    restart,
    /** Milliseconds of the processor's time; 0 for what is not worth a word. */
    longest: () => {
      const lines = readFileSync(file, "utf8").split("\n");
      return Math.max(...lines.map(Number));
    },
  };
}
