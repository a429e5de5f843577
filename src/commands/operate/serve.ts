import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { loadConfiguration } from "../../config/load.ts";
import type { Daemon } from "../../server/daemon.ts";
import { wireDaemon } from "../../wiring/daemon.ts";
import type { Flags } from "../command.ts";
import { version } from "../version.ts";

const failed = 1;
/** Milliseconds between two looks at whether the daemon is idle, and the part of them in which it may work. */
const lookEvery = 5_000;
const idleBelow = 0.05;
/** Milliseconds beyond those that answers have to finish. */
const closing = 5_000;

/** `provender serve`. */
export async function serve({ config: file }: Flags): Promise<number> {
  const daemon = await wireDaemon(() => loadConfiguration({ file }), version);
  collectOnceIdle();
  return run(daemon);
}

/**
 * Gives back what only the start needed, a fourteenth of the resident memory. V8 does it when its heap has to grow, which
 * that of an idle daemon never has to. Takes less than 0.1 s, once, and what was compiled with it: so not under load.
 */
function collectOnceIdle(): void {
  let before = performance.eventLoopUtilization();
  const timer = setInterval(() => {
    const { utilization } = performance.eventLoopUtilization(before);
    before = performance.eventLoopUtilization();
    if (utilization > idleBelow) return;
    clearInterval(timer);
    setFlagsFromString("--expose-gc");
    const collect = runInNewContext("gc") as NodeJS.GCFunction;
    setFlagsFromString("--no-expose-gc");
    collect({ type: "major", execution: "sync", flavor: "last-resort" });
  }, lookEvery).unref();
}

/**
 * Runs until SIGTERM or SIGINT, and reloads on SIGHUP. After an error that was not caught, nothing in the process can be
 * relied on: it raises the alarm, finishes what it answers and ends with status 1, so that it is started again.
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
