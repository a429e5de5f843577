/** How much is told in one window, which begins with the first entry in it. */
interface FoldingLimits {
  /** Milliseconds. */
  readonly window: number;
  /** Lines for entries that are the same. */
  readonly same: number;
  /** Lines for entries of one group. */
  readonly group: number;
  /** Lines for all together. */
  readonly all: number;
}

/**
 * What becomes of an entry: a line of its own, or a count, as one that has a line
 * already (`repeated`) or as one for which no line was left (`other`).
 */
type Folded = "line" | "repeated" | "other";

interface Told<T> {
  readonly entry: T;
  lines: number;
  repeated: number;
}

interface FoldingParts<T> {
  /** The line for entries that had none left: those of one group, or all others together. */
  readonly summarize: (entry: T, of: "its group" | "others") => T;
  /** At the end of a window, for each entry that came again. */
  readonly onRepeated: (entry: T, repeated: number) => void;
}

/** Bounds the lines for what others can make happen as often as they like; what has no line is counted, and the count is one line. */
export class Folding<T> {
  readonly #limits: FoldingLimits;
  readonly #parts: FoldingParts<T>;
  /** By what is the same; never more than the lines of one window and one more for each of its groups. */
  readonly #told = new Map<string, Told<T>>();
  readonly #linesOf = new Map<string, number>();
  #lines = 0;
  #window: NodeJS.Timeout | undefined;

  constructor(limits: FoldingLimits, parts: FoldingParts<T>) {
    this.#limits = limits;
    this.#parts = parts;
  }

  /** Entries with the same key are the same. */
  add(key: string, group: string, entry: T): Folded {
    const name = `entry ${key}`;
    const told = this.#told.get(name) ?? { entry, lines: 0, repeated: 0 };
    if (told.lines < this.#limits.same && this.#takeLine(group)) {
      this.#told.set(name, told);
      told.lines++;
      return "line";
    }
    if (told.lines === 0) {
      this.#countOther(group, entry);
      return "other";
    }
    told.repeated++;
    return "repeated";
  }

  /** Tells the counts; a new window begins with the next entry. */
  close(): void {
    clearTimeout(this.#window);
    this.#window = undefined;
    const told = [...this.#told.values()];
    this.#told.clear();
    this.#linesOf.clear();
    this.#lines = 0;
    for (const { entry, repeated } of told)
      if (repeated > 0) this.#parts.onRepeated(entry, repeated);
  }

  #takeLine(group: string): boolean {
    const { window, group: mostOfGroup, all } = this.#limits;
    this.#window ??= setTimeout(() => this.close(), window).unref();
    const lines = this.#linesOf.get(group) ?? 0;
    if (lines >= mostOfGroup || this.#lines >= all) return false;
    this.#linesOf.set(group, lines + 1);
    this.#lines++;
    return true;
  }

  #countOther(group: string, entry: T): void {
    const isKnown = this.#linesOf.has(group);
    const name = isKnown ? `group ${group}` : "others";
    const others = this.#told.get(name) ?? {
      entry: this.#parts.summarize(entry, isKnown ? "its group" : "others"),
      lines: 0,
      repeated: 0,
    };
    others.repeated++;
    this.#told.set(name, others);
  }
}
