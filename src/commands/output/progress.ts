import { MultiBar, type SingleBar } from "cli-progress";
import { formatAmount, formatTime } from "./figures.ts";

/** Something on its way; the numbers are bytes and change while it is. */
export interface ProgressItem {
  readonly label: string;
  readonly size: number | undefined;
  readonly received: number;
}

/** Output for progress: standard error, a terminal or not. */
interface ProgressOutput {
  readonly isTTY?: boolean | undefined;
  write(text: string): unknown;
}

/** Progress of a command that works on many items. */
export interface Progress {
  /** Sets the total number of items, once known. */
  expect(total: number): void;
  /** It comes from the origin; things that need not come are only ended. */
  begin(item: ProgressItem): void;
  /** `outcome` is a word or two, such as "fetched"; the item need not have begun. */
  end(item: ProgressItem, outcome: string): void;
  close(): void;
}

/** Bars on a terminal, plain lines elsewhere. `now` is in milliseconds on the monotonic clock. */
export function makeProgress(
  output: ProgressOutput,
  now: () => number,
): Progress {
  const tally = new Tally(now);
  return output.isTTY === true
    ? new BarProgress(output, tally)
    : new LineProgress(output, tally);
}

/** Totals: count, rate and remaining time. */
class Tally {
  readonly #now: () => number;
  readonly #running = new Set<ProgressItem>();
  #start: number | undefined;
  #total = 0;
  #ended = 0;
  #fetched = 0;
  #bytes = 0;

  constructor(now: () => number) {
    this.#now = now;
  }

  expect(total: number): void {
    this.#total = total;
  }

  begin(item: ProgressItem): void {
    this.#start ??= this.#now();
    this.#running.add(item);
  }

  end(item: ProgressItem): void {
    this.#ended++;
    if (!this.#running.delete(item)) return;
    this.#fetched++;
    this.#bytes += item.received;
  }

  get count(): string {
    return `${this.#ended}/${this.#total}`;
  }

  get ended(): number {
    return this.#ended;
  }

  get total(): number {
    return this.#total;
  }

  /** Describes the rate, and the time for the rest at the rate so far. */
  describe(): string {
    const running = [...this.#running];
    const partial = running.reduce((sum, { received }) => sum + received, 0);
    const seconds = (this.#now() - (this.#start ?? this.#now())) / 1000;
    const rate = (this.#bytes + partial) / Math.max(seconds, 0.001);
    if (this.#start === undefined || rate === 0) return "";
    const shown = `${formatAmount(rate)}/s`;
    const sizes = running.flatMap(({ size }) => size ?? []);
    const known = this.#fetched + sizes.length;
    if (known === 0) return shown;
    const mean = (this.#bytes + sizes.reduce((a, b) => a + b, 0)) / known;
    const left = mean * (this.#total - this.#ended) - partial;
    return `${shown}, ${formatTime(Math.max(left, 0) / rate)} left`;
  }
}

/** A line for each thing that came or failed. */
class LineProgress implements Progress {
  readonly #output: ProgressOutput;
  readonly #tally: Tally;
  readonly #begun = new WeakSet<ProgressItem>();

  constructor(output: ProgressOutput, tally: Tally) {
    this.#output = output;
    this.#tally = tally;
  }

  expect(total: number): void {
    this.#tally.expect(total);
  }

  begin(item: ProgressItem): void {
    this.#begun.add(item);
    this.#tally.begin(item);
  }

  end(item: ProgressItem, outcome: string): void {
    this.#tally.end(item);
    if (!this.#begun.has(item)) return;
    const amount = formatAmount(item.received);
    const rest = this.#tally.describe();
    this.#output.write(
      `${this.#tally.count} ${item.label}: ${outcome}, ${amount} (${rest})\n`,
    );
  }

  close(): void {
    // Every line is out.
  }
}

/** Milliseconds between two updates of the display. */
const refresh = 100;

/** A bar for each archive that comes, and one for all. */
class BarProgress implements Progress {
  readonly #tally: Tally;
  readonly #bars: MultiBar;
  readonly #total: SingleBar;
  readonly #shown = new Map<ProgressItem, SingleBar>();
  readonly #timer: NodeJS.Timeout;

  constructor(output: ProgressOutput, tally: Tally) {
    this.#tally = tally;
    this.#bars = new MultiBar({
      format: "{bar} {label} {figures}",
      barCompleteChar: "█",
      barIncompleteChar: "░",
      barsize: 20,
      hideCursor: true,
      clearOnComplete: true,
      stopOnComplete: false,
      stream: output as NodeJS.WritableStream,
    });
    this.#total = this.#bars.create(1, 0, { label: "", figures: "" });
    this.#timer = setInterval(() => this.#update(), refresh);
  }

  expect(total: number): void {
    this.#tally.expect(total);
    this.#update();
  }

  begin(item: ProgressItem): void {
    this.#tally.begin(item);
    const { label, size = 1 } = item;
    const figures = { label, figures: "" };
    this.#shown.set(item, this.#bars.create(Math.max(size, 1), 0, figures));
    this.#update();
  }

  end(item: ProgressItem): void {
    this.#tally.end(item);
    const bar = this.#shown.get(item);
    if (bar === undefined) return;
    this.#update();
    this.#bars.remove(bar);
    this.#shown.delete(item);
  }

  close(): void {
    clearInterval(this.#timer);
    this.#bars.stop();
  }

  #update(): void {
    for (const [{ label, size, received }, bar] of this.#shown) {
      bar.setTotal(Math.max(size ?? received, 1));
      const figures = `${formatAmount(received)}${size === undefined ? "" : ` of ${formatAmount(size)}`}`;
      bar.update(received, { label, figures });
    }
    this.#total.setTotal(Math.max(this.#tally.total, 1));
    this.#total.update(this.#tally.ended, {
      label: this.#tally.count,
      figures: this.#tally.describe(),
    });
    this.#bars.update();
  }
}
