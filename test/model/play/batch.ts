import { invariants, type Violation } from "../oracle/violation.ts";
import { formatAction, type Action } from "../world/actions.ts";
import { listWords, spell } from "./exhaustive.ts";
import { generate } from "./generate.ts";
import { play } from "./play.ts";
import { shrink } from "./shrink.ts";
import { worldOf, type WorldName } from "./worlds.ts";

/** Sequences that are played one after the other. */
export interface Batch {
  /** Seeds from the first on, or all words of at most so many letters. */
  readonly sequences:
    | { readonly first: number; readonly count: number; readonly steps: number }
    | { readonly longest: number };
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
      const report = await explain(sequence, found?.violation);
      yield { sort, report: isKnown ? undefined : report };
      if (batch.untilBroken) return;
    }
  }
}

/** Says what broke in the shortest sequence that breaks alike, and how to play it again. */
export async function explain(
  sequence: Sequence,
  before?: Violation,
): Promise<string> {
  const { world, actions } = sequence;
  const shortest = await shrink(world, actions);
  const log: string[] = [];
  const found = await play(world, shortest, (line) => log.push(line));
  return describe(sequence, found?.violation ?? before, shortest, log);
}

function describe(
  { name, world }: Sequence,
  violation: Violation | undefined,
  actions: readonly Action[],
  log: readonly string[],
): string {
  return [
    `${name} in world ${world}: ${violation?.message}`,
    `  broken: ${invariants[violation?.invariant ?? 0]}`,
    `  again: npm run model -- --world ${world} --replay ${JSON.stringify(name)}`,
    "  shortest sequence:",
    ...actions.map(indentAction),
    "  what came of it:",
    ...log.map((line) => `    ${line}`),
  ].join("\n");
}

/** Finds the sequence that has a name: a seed, or letters between commas. */
export function findSequence(
  name: string,
  world: WorldName | undefined,
  steps: number,
): Sequence {
  const seed = Number(name);
  return Number.isNaN(seed)
    ? makeWord(name.split(", "), world)
    : makeSequence(seed, world, steps);
}

function indentAction(action: Action): string {
  return `    ${formatAction(action)}`;
}

function* listSequences({
  sequences,
  world,
  share: { index, of },
}: Batch): Generator<Sequence> {
  if ("longest" in sequences) {
    let at = 0;
    for (const letters of listWords(sequences.longest))
      if (at++ % of === index) yield makeWord(letters, world);
  } else
    for (let at = index; at < sequences.count; at += of)
      yield makeSequence(sequences.first + at, world, sequences.steps);
}

function makeWord(
  letters: readonly string[],
  world: WorldName = "online",
): Sequence {
  return { name: letters.join(", "), world, actions: spell(letters) };
}

function makeSequence(
  seed: number,
  asked: WorldName | undefined,
  steps: number,
): Sequence {
  const world = asked ?? worldOf(seed);
  return { name: `${seed}`, world, actions: generate(seed, world, steps) };
}
