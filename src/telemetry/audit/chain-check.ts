import {
  emptyChain,
  readLink,
  sha256Of,
  type ChainHead,
  type Link,
} from "./chain.ts";

/** A place in a log. */
interface LogPlace {
  readonly file: string;
  /** The first is 1. */
  readonly line: number;
}

/** Break of a log's chain. */
export interface LogBreak extends LogPlace {
  readonly kind: "changed" | "dropped" | "doubled" | "swapped";
  /** Problem of that line, as the rest of a sentence. */
  readonly problem: string;
}

/** Breaks that are listed. */
const mostListed = 1_000;

/** Reads the lines of a log in order, and finds where they are not a chain. */
export class ChainCheck {
  readonly #breaks: LogBreak[] = [];
  readonly #wanted: ReadonlySet<string>;
  readonly #found = new Set<string>();
  #more = 0;
  #lines = 0;
  /** Lines since the last chained one. */
  #passed = 0;
  #head: ChainHead | undefined;
  #last: LogPlace | undefined;

  /** `wanted`: SHA-256 of lines that are looked for. */
  constructor(wanted: ReadonlySet<string>) {
    this.#wanted = wanted;
  }

  /** Takes the next line; `isAged`: files before this one may have left. */
  take(bytes: Buffer, at: LogPlace, isAged: boolean): void {
    const link = readLink(bytes);
    if (link === undefined) {
      this.#tell({ ...at, kind: "changed", problem: "is not chained" });
      this.#passed++;
    } else {
      this.#follow(link, sha256Of(bytes), at, isAged);
      this.#passed = 0;
    }
    this.#last = at;
  }

  /** Returns the findings up to the last line. */
  get findings() {
    return {
      lines: this.#lines,
      head: (this.#head ?? emptyChain).sha256,
      breaks: this.#breaks as readonly LogBreak[],
      /** Breaks beyond those that are listed. */
      more: this.#more,
      /** Those of the wanted lines that the log has. */
      found: this.#found as ReadonlySet<string>,
    };
  }

  #follow(link: Link, sha256: string, at: LogPlace, isAged: boolean): void {
    const found =
      this.#head === undefined
        ? findBreakAtStart(link, at, isAged)
        : this.#findBreak(this.#head, link, sha256, at);
    if (found !== undefined) this.#tell(found);
    if (this.#wanted.has(sha256)) this.#found.add(sha256);
    this.#lines++;
    // A misplaced line proves nothing about the next one.
    if (found?.kind !== "doubled" && found?.kind !== "swapped")
      this.#head = { size: link.seq, sha256 };
  }

  #findBreak(
    { size, sha256: before }: ChainHead,
    { seq, prev }: Link,
    sha256: string,
    at: LogPlace,
  ): LogBreak | undefined {
    if (sha256 === before)
      return { ...at, kind: "doubled", problem: "repeats the line before it" };
    if (seq <= size) {
      const problem = `is line ${seq} of the chain and stands after line ${size}`;
      return { ...at, kind: "swapped", problem };
    }
    const missing = seq - size - 1;
    // Missing lines of the same number as unchained ones were changed, and are
    // reported already.
    if (missing > 0 && missing === this.#passed) return undefined;
    if (missing > 0) {
      const problem = `follows lines ${size + 1} to ${seq - 1} of the chain, which are not there`;
      return { ...at, kind: "dropped", problem };
    }
    if (prev === before) return undefined;
    const problem = "is not the line that the next one names";
    return { ...(this.#last ?? at), kind: "changed", problem };
  }

  #tell(found: LogBreak): void {
    if (this.#breaks.length < mostListed) this.#breaks.push(found);
    else this.#more++;
  }
}

/** Finds what is wrong with the oldest line that is kept. */
function findBreakAtStart(
  { seq, prev }: Link,
  at: LogPlace,
  isAged: boolean,
): LogBreak | undefined {
  if (seq > 1 && !isAged) {
    const problem = `is line ${seq} of the chain, and those before it are not there`;
    return { ...at, kind: "dropped", problem };
  }
  if (seq > 1 || prev === emptyChain.sha256) return undefined;
  return { ...at, kind: "changed", problem: "is not the first of a chain" };
}
