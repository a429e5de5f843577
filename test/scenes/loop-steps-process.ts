import { appendFileSync } from "node:fs";
import { isMainThread } from "node:worker_threads";

/** Milliseconds. */
const long = 10;

/** Preloaded into a daemon: notes what its event loop spends of the processor's time between two timers, when that is much. */
function measure(file: string): void {
  let last = process.threadCpuUsage();
  const tick = () => {
    const { user, system } = process.threadCpuUsage(last);
    const ms = (user + system) / 1_000;
    if (ms > long) appendFileSync(file, `${ms}\n`);
    last = process.threadCpuUsage();
    setTimeout(tick, 1).unref();
  };
  tick();
}

const { LOOP_STEPS: file } = process.env;
if (isMainThread && file !== undefined) measure(file);
