import { availableParallelism } from "node:os";
import { parseArgs } from "node:util";
import { explain, makeSequence } from "./play/batch.ts";
import { play } from "./play/play.ts";
import { playInThreads } from "./play/threads.ts";
import { worldNames, type WorldName } from "./play/worlds.ts";

// npm run model -- --sequences N --seed S [--world W] [--steps K] [--threads T]
//   [--until-broken] | --replay S [--world W]

const { values } = parseArgs({
  options: {
    sequences: { type: "string", default: "1000" },
    seed: { type: "string", default: "1" },
    steps: { type: "string", default: "40" },
    world: { type: "string" },
    threads: { type: "string", default: `${availableParallelism()}` },
    "until-broken": { type: "boolean", default: false },
    replay: { type: "string" },
  },
});
const world = worldNames.find((name) => name === values.world);
const steps = Number(values.steps);
if (values.world !== undefined && world === undefined)
  throw new RangeError(`--world: expected one of ${worldNames.join(", ")}.`);

if (values.replay === undefined) await playAll();
else await replay(values.replay, world);
// Timers of modelled processes that died would keep it alive.
process.exit();

async function replay(
  name: string,
  asked: WorldName | undefined,
): Promise<void> {
  const sequence = makeSequence(Number(name), asked, steps);
  const found = await play(sequence.world, sequence.actions, console.log);
  if (found === undefined) console.log("not broken");
  else console.log(await explain(sequence));
  if (found) process.exitCode = 1;
}

async function playAll(): Promise<void> {
  const began = performance.now();
  const played = await playInThreads(
    {
      ...{ first: Number(values.seed), count: Number(values.sequences), steps },
      ...{ world, untilBroken: values["until-broken"] },
    },
    Number(values.threads),
  );
  const seconds = (performance.now() - began) / 1_000;
  for (const report of played.reports) console.log(`${report}\n`);
  for (const [sort, times] of played.sorts) console.log(`${times} × ${sort}`);
  console.log(
    `${played.count} sequences, ${played.broken} broken, ${(played.count / seconds).toFixed(0)} a second`,
  );
  if (played.broken > 0) process.exitCode = 1;
}
