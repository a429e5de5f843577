import { invariants } from "../oracle/violation.ts";
import { formatAction, type Action } from "../world/actions.ts";
import { generate } from "./generate.ts";
import { play } from "./play.ts";
import { worldOf, type WorldName } from "./worlds.ts";

/** Sequences that are played one after the other. */
export interface Batch {
  /** Seed of the first; the others follow. */
  readonly first: number;
  readonly count: number;
  readonly steps: number;
  /** Undefined: the one that the seed chooses. */
  readonly world: WorldName | undefined;
  /** Plays every `of`th sequence, from `index` on. */
  readonly share: { readonly index: number; readonly of: number };
  /** True where the first violation ends it. */
  readonly untilBroken: boolean;
}

/** A sequence that broke an invariant. */
export interface Broken {
  /** The same for all violations of one sort. */
  readonly sort: string;
  /** For people; undefined where this batch reported the sort before. */
  readonly report: string | undefined;
}

/** Something to play, and what `--replay` calls it. */
export interface Sequence {
  readonly name: string;
  readonly world: WorldName;
  readonly actions: readonly Action[];
}

/** Plays a batch; yields once for each sequence. */
export async function* playBatch(
  batch: Batch,
): AsyncGenerator<Broken | undefined> {
  const reported = new Set<string>();
  for (const sequence of listSequences(batch)) {
    const found = await play(sequence.world, sequence.actions);
    const sort = found?.violation.sort;
    if (sort === undefined) yield undefined;
    else {
      const isKnown = reported.has(sort);
      reported.add(sort);
      const report = await explain(sequence);
      yield { sort, report: isKnown ? undefined : report };
      if (batch.untilBroken) return;
    }
  }
}

/** Says what broke in the shortest sequence that breaks alike, and how to play it again. */
export async function explain(sequence: Sequence): Promise<string> {
  const { world, actions } = sequence;
  const shortest = await shrink(world, actions);
  const log: string[] = [];
  const found = await play(world, shortest, (line) => log.push(line));
  return describe(sequence, found, shortest, log);
}

function describe(
  { name, world }: Sequence,
  found: Awaited<ReturnType<typeof play>>,
  actions: readonly Action[],
  log: readonly string[],
): string {
  return [
    `${name} in world ${world}: ${found?.violation.message ?? "not broken again"}`,
    `  broken: ${invariants[found?.violation.invariant ?? 0]}`,
    `  again: npm run model -- --world ${world} --replay ${JSON.stringify(name)}`,
    "  shortest sequence:",
    ...actions.map(indentAction),
    "  what came of it:",
    ...log.map((line) => `    ${line}`),
  ].join("\n");
}

function indentAction(action: Action): string {
  return `    ${formatAction(action)}`;
}

function* listSequences({
  first,
  count,
  steps,
  world,
  share: { index, of },
}: Batch): Generator<Sequence> {
  for (let at = index; at < count; at += of)
    yield makeSequence(first + at, world, steps);
}

export function makeSequence(
  seed: number,
  asked: WorldName | undefined,
  steps: number,
): Sequence {
  const world = asked ?? worldOf(seed);
  return { name: `${seed}`, world, actions: generate(seed, world, steps) };
}

/** Finds a shorter sequence that ends in the same sort of violation: no step of it can be left out. */
async function shrink(
  world: WorldName,
  actions: readonly Action[],
): Promise<readonly Action[]> {
  const broken = await play(world, actions);
  if (broken === undefined) return actions;
  const { sort } = broken.violation;
  let shortest = actions.slice(0, broken.step + 1);
  for (let size = shortest.length >> 1; size > 0; size >>= 1)
    for (let at = shortest.length - size; at >= 0; at--) {
      const shorter = shortest.toSpliced(at, size);
      const again = await play(world, shorter);
      if (again?.violation.sort === sort)
        shortest = shorter.slice(0, again.step + 1);
    }
  return shortest;
}
