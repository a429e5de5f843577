import { parentPort, workerData } from "node:worker_threads";
import { playShare, type Share } from "./play.ts";

// Plays one share, and tells what came of each sequence.
for await (const broken of playShare(workerData as Share))
  parentPort?.postMessage(broken);
// Timers of modelled processes that died would keep it alive.
process.exit();
