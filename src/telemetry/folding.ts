/** Limits of one window, which begins with the first entry in it. */
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
 * Result for an entry: a line of its own, or a count. `repeated` counts with an
 * earlier line; `other` exceeded the limits.
 */
type Folded = "line" | "repeated" | "other";

interface Counted<T> {
  readonly entry: T;
  lines: number;
  repeated: number;
}

interface FoldingParts<T> {
  /**
   * Builds the line for entries that exceeded the limits: those of one group,
   * or all the rest together.
   */
  readonly summarize: (entry: T, of: "its group" | "others") => T;
  /** Writes the count of a repeated entry at the end of a window. */
  readonly onRepeated: (entry: T, repeated: number) => void;
}

/**
 * Bounds the lines for events that clients and origins can repeat at will.
 * Events without a line are counted, and the count is one line.
 */
export class Folding<T> {
  readonly #limits: FoldingLimits;
  readonly #parts: FoldingParts<T>;
  /**
   * Entries by name; never more than the lines of one window and one more for
   * each of its groups.
   */
  readonly #entries = new Map<string, Counted<T>>();
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
    const counted = this.#entries.get(name) ?? { entry, lines: 0, repeated: 0 };
    if (counted.lines < this.#limits.same && this.#takeLine(group)) {
      this.#entries.set(name, counted);
      counted.lines++;
      return "line";
    }
    if (counted.lines === 0) {
      this.#countOther(group, entry);
      return "other";
    }
    counted.repeated++;
    return "repeated";
  }

  /** Reports the counts; a new window begins with the next entry. */
  close(): void {
    clearTimeout(this.#window);
    this.#window = undefined;
    const entries = [...this.#entries.values()];
    this.#entries.clear();
    this.#linesOf.clear();
    this.#lines = 0;
    for (const { entry, repeated } of entries)
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
    const others = this.#entries.get(name) ?? {
      entry: this.#parts.summarize(entry, isKnown ? "its group" : "others"),
      lines: 0,
      repeated: 0,
    };
    others.repeated++;
    this.#entries.set(name, others);
  }
}
