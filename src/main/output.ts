import type { Output } from "../commands/output/report.ts";

/** Output streams of this process. */
export const output: Output = {
  stdout: (text) => void process.stdout.write(text),
  stderr: (text) => void process.stderr.write(text),
};

/** Resolves when the text was taken, with false when it has no reader any longer. */
export function print(text: string): Promise<boolean> {
  return new Promise((resolve) =>
    process.stdout.write(text, (error) => resolve(error == null)),
  );
}

/** Aborted by the first SIGINT or SIGTERM, so that work ends in order; a second one ends the process. */
export function untilStopped(): AbortSignal {
  const stop = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const)
    process.once(signal, () => stop.abort());
  return stop.signal;
}
