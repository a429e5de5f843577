import { parentPort, workerData } from "node:worker_threads";
import { listWords } from "./plays.ts";
import {
  type Broken,
  explain,
  findSequence,
  play,
  type Share,
} from "./play.ts";

// Plays one share, and tells what came of each sequence.
const { sequences, world, untilBroken, index, of } = workerData as Share;

function* listNames(): Generator<string> {
  if ("longest" in sequences)
    for (const letters of listWords(sequences.longest))
      yield letters.join(", ");
  else
    for (let at = 0; at < sequences.count; at++)
      yield String(sequences.first + at);
}

const reported = new Set<string>();
const { steps } = { steps: 0, ...sequences };
for (const [at, name] of listNames().map((one, at) => [at, one] as const)) {
  if (at % of !== index) continue;
  const sequence = findSequence(name, world, steps);
  const found = await play(sequence.world, sequence.actions);
  const sort = found?.violation.sort;
  const isNew = sort !== undefined && !reported.has(sort);
  if (isNew) reported.add(sort);
  const report = isNew ? await explain(sequence) : undefined;
  parentPort?.postMessage(sort && ({ sort, report } satisfies Broken));
  if (sort !== undefined && untilBroken === true) break;
}
// Timers of modelled processes that died would keep it alive.
process.exit();
