import type { Daemon } from "../../server/daemon.ts";

/** The process as `serve` uses it. */
export interface ServeProcess {
  readonly stdout: { write(text: string): unknown };
  on(signal: NodeJS.Signals, listener: () => void): unknown;
}

/**
 * `provender serve`: runs until SIGTERM or SIGINT, prints what clients need on
 * standard output once it serves, and reloads on SIGHUP.
 */
export async function runServe(
  daemon: Daemon,
  process: ServeProcess,
): Promise<number> {
  const stopped = Promise.withResolvers<void>();
  for (const signal of ["SIGTERM", "SIGINT"] as const)
    process.on(signal, () => stopped.resolve());
  process.on("SIGHUP", () => void daemon.reload());
  const { url, clients } = await daemon.start();
  try {
    process.stdout.write(`provender serves on ${url}\n\n${clients}`);
    await stopped.promise;
  } finally {
    await daemon.stop();
  }
  return 0;
}
