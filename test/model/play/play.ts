import { Violation } from "../oracle/violation.ts";
import { formatAction, type Action } from "../world/actions.ts";
import type { World } from "../world/world.ts";
import { perform } from "./perform.ts";
import { openWorld, type WorldName } from "./worlds.ts";

/** Where a sequence broke an invariant. */
interface Broken {
  readonly step: number;
  readonly violation: Violation;
}

/** Plays a sequence from an empty store; undefined where no invariant broke. */
export async function play(
  name: WorldName,
  actions: readonly Action[],
  log?: (line: string) => void,
): Promise<Broken | undefined> {
  const world = openWorld(name);
  const { stackTraceLimit } = Error;
  // Traces are a tenth of the cost; what is shown has them.
  if (log === undefined) Error.stackTraceLimit = 0;
  try {
    for (const [step, action] of actions.entries()) {
      const broken = await playStep(world, step, action, log);
      if (broken !== undefined) return broken;
    }
    return undefined;
  } finally {
    world.rim.close();
    Error.stackTraceLimit = stackTraceLimit;
  }
}

async function playStep(
  world: World,
  step: number,
  action: Action,
  log: ((line: string) => void) | undefined,
): Promise<Broken | undefined> {
  try {
    const outcome = await perform(world, action);
    log?.(`${step} ${formatAction(action)}: ${outcome}`);
    return undefined;
  } catch (error) {
    if (!(error instanceof Violation)) throw error;
    const { invariant, message } = error;
    log?.(`${step} ${formatAction(action)}: broken ${invariant}: ${message}`);
    return { step, violation: error };
  }
}
