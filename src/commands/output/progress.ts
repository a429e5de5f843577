import { formatAmount } from "./table.ts";

/** Something on its way; the numbers are bytes and change while it is. */
export interface ProgressItem {
  readonly label: string;
  readonly size: number | undefined;
  readonly received: number;
}

interface ProgressOutput {
  /** Width of the terminal; undefined where it is none. */
  readonly columns: number | undefined;
  write(text: string): unknown;
}

/** Shows progress on standard error; a document on standard output stands alone. */
export function showProgress(json = false): Progress {
  const silent = { columns: undefined, write: () => undefined };
  return new Progress(json ? silent : process.stderr);
}

/** Progress of a command that works on many items: one changing line on a terminal, elsewhere a line for each item that came or failed. */
export class Progress {
  readonly #output: ProgressOutput;
  readonly #running = new Set<ProgressItem>();
  readonly #timer: NodeJS.Timeout | undefined;
  readonly #start = performance.now();
  #total = 0;
  #ended = 0;
  #bytes = 0;

  constructor(output: ProgressOutput) {
    this.#output = output;
    if (output.columns !== undefined)
      this.#timer = setInterval(() => this.#redraw(), 200);
  }

  /** Sets the total number of items, once known. */
  expect(total: number): void {
    this.#total = total;
  }

  /** It comes from the origin; things that need not come are only ended. */
  begin(item: ProgressItem): void {
    this.#running.add(item);
  }

  /** `outcome` is a word or two, such as "fetched"; the item need not have begun. */
  end(item: ProgressItem, outcome: string): void {
    this.#ended++;
    if (!this.#running.delete(item)) return;
    this.#bytes += item.received;
    if (this.#timer === undefined)
      this.#output.write(
        `${this.#ended}/${this.#total} ${item.label}: ${outcome}, ${formatAmount(item.received)}\n`,
      );
  }

  close(): void {
    clearInterval(this.#timer);
    if (this.#timer !== undefined) this.#output.write("\r\x1b[K");
  }

  #redraw(): void {
    const running = [...this.#running];
    const bytes = running.reduce((sum, one) => sum + one.received, this.#bytes);
    const rate = (bytes * 1000) / (performance.now() - this.#start);
    const labels = running.map(
      ({ label, size, received }) =>
        `${label} ${formatAmount(received)}${size === undefined ? "" : ` of ${formatAmount(size)}`}`,
    );
    const line = `${this.#ended}/${this.#total} ${formatAmount(rate)}/s ${labels.join(", ")}`;
    const { columns = 80 } = this.#output;
    this.#output.write(`\r\x1b[K${line.slice(0, columns - 1)}`);
  }
}
