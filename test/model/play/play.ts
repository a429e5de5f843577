import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { openSqlite } from "../../../src/store/database/database.ts";
import type { Database } from "../../../src/store/database/transactions.ts";
import { invariants, Violation } from "../oracle/violation.ts";
import { worldNames, type WorldName } from "../world/settings.ts";
import { World } from "../world/world.ts";
import { spell } from "./plays.ts";
import { generate } from "./generate.ts";
import { type Action, perform } from "./perform.ts";

export interface Batch {
  /** Of so many steps, each from a seed; or all of at most so many letters. */
  readonly sequences:
    | { readonly first: number; readonly count: number; readonly steps: number }
    | { readonly longest: number };
  /** Undefined: the one that the seed chooses. */
  readonly world?: WorldName | undefined;
  /** True where the first violation ends it. */
  readonly untilBroken?: boolean;
}

/** What a thread plays: every `of`th sequence, from `index` on. */
export interface Share extends Batch {
  readonly index: number;
  readonly of: number;
}

export interface Broken {
  /** The same for all violations of one sort. */
  readonly sort: string;
  /** For people; undefined where the thread reported the sort before. */
  readonly report: string | undefined;
}

/** Plays in several threads; how often each sort of violation came, and a report of each. Rejects when a thread fails. */
export async function playBatch(batch: Batch, threads: number) {
  const sorts = new Map<string, number>();
  const reports = new Map<string, string>();
  let count = 0;
  let broken = 0;
  const note = (found: Broken | undefined) => {
    count++;
    if (found === undefined) return;
    broken++;
    const { sort, report } = found;
    sorts.set(sort, (sorts.get(sort) ?? 0) + 1);
    if (report !== undefined && !reports.has(sort)) reports.set(sort, report);
  };
  await Promise.all(
    Array.from({ length: threads }, async (_, index) => {
      const share: Share = { ...batch, index, of: threads };
      const place = new URL("thread.ts", import.meta.url);
      const worker = new Worker(place, { workerData: share });
      worker.on("message", note);
      await once(worker, "exit");
    }),
  );
  return { count, broken, sorts, reports: [...reports.values()] };
}

type Sequence = ReturnType<typeof findSequence>;

/** Finds the sequence that has a name: a seed, or letters between commas. */
export function findSequence(
  name: string,
  asked: WorldName | undefined,
  steps: number,
) {
  if (!/^\d+$/.test(name)) {
    const letters = name === "" ? [] : name.split(", ");
    return { name, world: asked ?? "online", actions: spell(letters) };
  }
  const seed = Number(name);
  const world = asked ?? worldNames[seed % worldNames.length] ?? "online";
  return { name, world, actions: generate(seed, world, steps) };
}

/** Says what broke in the shortest sequence that breaks alike, and how to play it again. */
export async function explain(sequence: Sequence): Promise<string> {
  const { name, world } = sequence;
  const shortest = await shrink(sequence);
  const log: string[] = [];
  const found = await play(world, shortest, (line) => log.push(line));
  if (found === undefined) return `${name} in world ${world}: not broken`;
  const { message, invariant } = found.violation;
  return [
    `${name} in world ${world}: ${message}`,
    `  broken: ${invariants[invariant]}`,
    `  again: npm run model -- --world ${world} --replay ${JSON.stringify(name)}`,
    "  what came of the shortest sequence:",
    ...log.map((line) => `    ${line}`),
  ].join("\n");
}

/** Finds a shorter sequence that ends in the same sort of violation: no step of it can be left out. */
async function shrink({ world, actions }: Sequence) {
  const broken = await play(world, actions);
  if (broken === undefined) return actions;
  let shortest = actions.slice(0, broken.step + 1);
  for (let size = shortest.length >> 1; size > 0; size >>= 1)
    for (let at = shortest.length - size; at >= 0; at--) {
      const shorter = shortest.toSpliced(at, size);
      const again = await play(world, shorter);
      if (again?.violation.sort === broken.violation.sort)
        shortest = shorter.slice(0, again.step + 1);
    }
  return shortest;
}

/** Plays a sequence over an empty database, up to the step that breaks an invariant; undefined where none does. */
export async function play(
  name: WorldName,
  actions: readonly Action[],
  log?: (line: string) => void,
  given?: Database,
) {
  const database = given ?? openSqlite(":memory:");
  const world = new World(name, database);
  const { stackTraceLimit } = Error;
  // Traces are a tenth of the cost; what is shown has them.
  if (log === undefined) Error.stackTraceLimit = 0;
  try {
    for (const [step, action] of actions.entries()) {
      const say = (said: string) => log?.(`${step} ${format(action)}: ${said}`);
      try {
        say(await perform(world, action));
      } catch (error) {
        if (!(error instanceof Violation)) throw error;
        say(`broken ${error.invariant}: ${error.message}`);
        return { step, violation: error };
      }
    }
    return undefined;
  } finally {
    await world.close();
    if (given === undefined) await database.close();
    Error.stackTraceLimit = stackTraceLimit;
  }
}

function format({ kind, ...rest }: Action): string {
  const facts = Object.entries(rest).map(([name, value]) => {
    const text = typeof value === "string" ? value : JSON.stringify(value);
    return `${name}=${text}`;
  });
  return [kind, ...facts].join(" ");
}
