import type { Output } from "../commands/output/streams.ts";

/** Output streams of this process. */
export const output: Output = {
  stdout: (text) => void process.stdout.write(text),
  stderr: (text) => void process.stderr.write(text),
};
