import type { Daemon } from "../../server/daemon.ts";

/** The process as `serve` uses it. */
interface ServeProcess {
  readonly stdout: { write(text: string): unknown };
  on(signal: NodeJS.Signals, listener: () => void): unknown;
  on(event: "uncaughtException", listener: (error: unknown) => void): unknown;
  exit(status: number): unknown;
}

const failed = 1;
/** Milliseconds beyond those that answers have to finish. */
const closing = 5_000;

/**
 * `provender serve`: runs until SIGTERM or SIGINT, prints what clients need on
 * standard output once it serves, and reloads on SIGHUP. After an error that was
 * not caught, nothing in the process can be relied on: it raises the alarm,
 * finishes what it answers and ends with status 1, so that the service manager
 * starts it again.
 */
export async function runServe(
  daemon: Daemon,
  process: ServeProcess,
): Promise<number> {
  const ended = Promise.withResolvers<number>();
  for (const signal of ["SIGTERM", "SIGINT"] as const)
    process.on(signal, () => ended.resolve(0));
  process.on("SIGHUP", () => void daemon.reload());
  // Also of promises that nothing waits for.
  process.on("uncaughtException", (error) => {
    daemon.alarm(error, "process");
    ended.resolve(failed);
    setTimeout(() => process.exit(failed), daemon.grace + closing).unref();
  });
  const { url, clients } = await daemon.start();
  try {
    process.stdout.write(`provender serves on ${url}\n\n${clients}`);
    return await ended.promise;
  } finally {
    await daemon.stop();
  }
}
