import { loadConfiguration } from "../../config/load.ts";
import type { Daemon } from "../../server/daemon.ts";
import { wireDaemon } from "../../wiring/daemon.ts";
import type { Flags } from "../command.ts";
import { version } from "../version.ts";

const failed = 1;
/** Milliseconds beyond those that answers have to finish. */
const closing = 5_000;

/** `provender serve`. */
export async function serve({ config: file }: Flags): Promise<number> {
  return run(await wireDaemon(() => loadConfiguration({ file }), version));
}

/**
 * Runs until SIGTERM or SIGINT, prints what clients need on standard output once
 * it serves, and reloads on SIGHUP. After an error that was not caught, nothing
 * in the process can be relied on: it raises the alarm, finishes what it answers
 * and ends with status 1, so that the service manager starts it again.
 */
export async function run(daemon: Daemon): Promise<number> {
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
