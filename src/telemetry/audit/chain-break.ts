import { emptyChain, type ChainHead, type Gap, type Link } from "./chain.ts";
import type { LogBreak, LogPlace } from "./findings.ts";

/** A chained line and what lies before it. */
interface Step {
  readonly at: LogPlace;
  readonly link: Link;
  readonly sha256: string;
  /** The lines between it and the last chained one. */
  readonly gap: Gap | undefined;
  /** How many they are, and the first of them. */
  readonly passed:
    { readonly count: number; readonly first: LogPlace } | undefined;
}

const notNamed = "is not the line that the next one names";
const outside = "stands in the chain without being a part of it";

/** What is wrong when that line follows `head`; `last` is the line before it. */
export function findBreak(
  head: ChainHead,
  last: LogPlace,
  step: Step,
): LogBreak | undefined {
  const { at, link, sha256, passed } = step;
  if (sha256 === head.sha256)
    return { ...at, kind: "doubled", problem: "repeats the line before it" };
  if (link.seq <= head.size) {
    const problem = `is line ${link.seq} of the chain and stands after line ${head.size}`;
    return { ...at, kind: "swapped", problem };
  }
  const missing = link.seq - head.size - 1;
  // As many lines are missing as do not read as chained: these were changed, not dropped.
  if (missing === 0 || missing === passed?.count)
    return findBesides(head, last, step);
  const problem = `follows lines ${head.size + 1} to ${link.seq - 1} of the chain, which are not there`;
  return { ...at, kind: "dropped", problem };
}

function findBesides(
  head: ChainHead,
  last: LogPlace,
  { at, link: { prev, over }, gap, passed }: Step,
): LogBreak | undefined {
  const isNext = prev === head.sha256;
  if (gap === undefined || passed === undefined) {
    if (over !== undefined)
      return {
        ...at,
        kind: "dropped",
        problem: "names lines outside of the chain that are not there",
      };
    return isNext ? undefined : { ...last, kind: "changed", problem: notNamed };
  }
  const { first } = passed;
  if (over === undefined && isNext)
    return { ...first, kind: "inserted", problem: outside };
  return over?.after === head.sha256 &&
    isSame(over.runs, gap) &&
    prev === gap.last
    ? undefined
    : { ...first, kind: "changed", problem: notNamed };
}

/** What is wrong with the oldest chained line that is kept; `isAged` when lines before it may have left. */
export function findBreakAtStart(
  { at, link: { seq, prev, over }, gap, passed }: Step,
  isAged: boolean,
): LogBreak | undefined {
  if (seq > 1 && !isAged) {
    const problem = `is line ${seq} of the chain, and those before it are not there`;
    return { ...at, kind: "dropped", problem };
  }
  const { after = emptyChain.sha256, runs = [] } = over ?? {};
  // The oldest files leave first, so that the gap may have lost its first runs.
  const left = isAged
    ? runs.slice(runs.length - (gap?.runs.length ?? 0))
    : runs;
  const isFirst = seq > 1 || after === emptyChain.sha256;
  const mayBeAny =
    gap === undefined && isAged && (over !== undefined || seq > 1);
  const isNext = mayBeAny || prev === (gap?.last ?? emptyChain.sha256);
  if (isFirst && isNext && isSame(left, gap)) return undefined;
  const place = passed?.first ?? at;
  return {
    ...place,
    kind: "changed",
    problem: "is not what the chain starts from",
  };
}

function isSame(runs: readonly string[], gap: Gap | undefined): boolean {
  return runs.join() === (gap?.runs ?? []).join();
}
