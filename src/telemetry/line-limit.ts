/** Lines in one window, which begins with the first of them. */
interface Lines {
  /** Milliseconds. */
  readonly window: number;
  /** Of what is the same. */
  readonly same: number;
  /** Of one group. */
  readonly group: number;
  /** Of all together. */
  readonly all: number;
}

/** Bounds the lines for what clients and origins can repeat at will. */
export class LineLimit {
  readonly #most: Lines;
  readonly #linesOf = new Map<string, number>();
  readonly #groups = new Map<string, number>();
  #lines = 0;
  #end = -Infinity;

  constructor(most: Lines) {
    this.#most = most;
  }

  /** Whether there is a line left for what is named by a key; "again" when it had all of its own. */
  take(key: string, group: string): "line" | "again" | "none left" {
    const now = performance.now();
    if (now >= this.#end) {
      this.#linesOf.clear();
      this.#groups.clear();
      this.#lines = 0;
      this.#end = now + this.#most.window;
    }
    const { same, group: ofGroup, all } = this.#most;
    const own = this.#linesOf.get(key) ?? 0;
    if (own >= same) return "again";
    const lines = this.#groups.get(group) ?? 0;
    if (lines >= ofGroup || this.#lines >= all)
      return own > 0 ? "again" : "none left";
    this.#linesOf.set(key, own + 1);
    this.#groups.set(group, lines + 1);
    this.#lines++;
    return "line";
  }
}
