import { parentPort, workerData } from "node:worker_threads";
import { playBatch, type Batch } from "./batch.ts";

// Plays one batch, and tells what came of each sequence: see threads.ts.
for await (const broken of playBatch(workerData as Batch))
  parentPort?.postMessage(broken);
// Timers of modelled processes that died would keep it alive.
process.exit();
