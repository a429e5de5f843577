/** A place in a log. */
export interface LogPlace {
  readonly file: string;
  /** The first is 1. */
  readonly line: number;
}

/** Where a log is not what was written. */
export interface LogBreak extends LogPlace {
  readonly kind:
    | "changed"
    | "dropped"
    | "doubled"
    | "swapped"
    | "inserted"
    | "cut"
    | "checkpoint";
  /** What is wrong with that line, as the rest of a sentence. */
  readonly problem: string;
}

/** Places of one sort that are listed. */
export const mostListed = 1_000;

/** What a check of one log found. */
export class Findings {
  readonly #breaks: LogBreak[] = [];
  readonly #torn: LogPlace[] = [];
  /** Breaks beyond those that are listed. */
  more = 0;
  /** Chained lines. */
  lines = 0;
  /** Lines of earlier versions, before the chain. */
  unchained = 0;
  /** Lines that sign for those before them. */
  checkpoints = 0;
  /** Lines that no checkpoint signs for yet. */
  unsigned = 0;

  get breaks(): readonly LogBreak[] {
    return this.#breaks;
  }

  /** Lines that a killed process left unfinished; nothing is wrong with them. */
  get torn(): readonly LogPlace[] {
    return this.#torn;
  }

  tell(found: LogBreak): void {
    if (this.#breaks.length < mostListed) this.#breaks.push(found);
    else this.more++;
  }

  tellTorn(place: LogPlace): void {
    if (this.#torn.length < mostListed) this.#torn.push(place);
  }
}
