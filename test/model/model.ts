import { availableParallelism } from "node:os";
import { parseArgs } from "node:util";
import { explain, findSequence, play, playBatch } from "./play/play.ts";
import { worldNames } from "./world/settings.ts";

// npm run model -- --sequences N --seed S [--world W] [--steps K] [--threads T]
//   [--until-broken] | --exhaustive LETTERS [--world W] | --replay S [--world W]

const { values } = parseArgs({
  options: {
    sequences: { type: "string", default: "1000" },
    seed: { type: "string", default: "1" },
    steps: { type: "string", default: "40" },
    world: { type: "string" },
    exhaustive: { type: "string" },
    threads: { type: "string", default: `${availableParallelism()}` },
    "until-broken": { type: "boolean", default: false },
    replay: { type: "string" },
  },
});
const world = worldNames.find((name) => name === values.world);
const steps = Number(values.steps);
if (values.world !== undefined && world === undefined)
  throw new RangeError(`--world: expected one of ${worldNames.join(", ")}.`);

const sequences =
  values.exhaustive === undefined
    ? { first: Number(values.seed), count: Number(values.sequences), steps }
    : { longest: Number(values.exhaustive) };

if (values.replay === undefined) {
  const began = performance.now();
  const { reports, sorts, count, broken } = await playBatch(
    { sequences, world, untilBroken: values["until-broken"] },
    Number(values.threads),
  );
  const rate = (count / (performance.now() - began)) * 1_000;
  for (const report of reports) console.log(`${report}\n`);
  for (const [sort, times] of sorts) console.log(`${times} × ${sort}`);
  console.log(
    `${count} sequences, ${broken} broken, ${rate.toFixed(0)} a second`,
  );
  if (broken > 0) process.exitCode = 1;
} else {
  const sequence = findSequence(values.replay, world, steps);
  const found = await play(sequence.world, sequence.actions, console.log);
  console.log(await explain(sequence));
  if (found) process.exitCode = 1;
}
// Timers of modelled processes that died would keep it alive.
process.exit();
