import { formatAmount } from "./table.ts";

/** Bytes of something on its way; they change while it is. */
interface Amounts {
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
  readonly #running = new Map<string, Amounts>();
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
  begin(label: string, amounts: Amounts): void {
    this.#running.set(label, amounts);
  }

  /** `outcome` is a word or two, such as "fetched"; the item need not have begun. */
  end(label: string, outcome: string): void {
    this.#ended++;
    const came = this.#running.get(label);
    if (came === undefined) return;
    this.#running.delete(label);
    this.#bytes += came.received;
    if (this.#timer === undefined)
      this.#output.write(
        `${this.#ended}/${this.#total} ${label}: ${outcome}, ${formatAmount(came.received)}\n`,
      );
  }

  close(): void {
    clearInterval(this.#timer);
    if (this.#timer !== undefined) this.#output.write("\r\x1b[K");
  }

  #redraw(): void {
    const running = [...this.#running];
    const bytes = running.reduce(
      (sum, [, { received }]) => sum + received,
      this.#bytes,
    );
    const rate = (bytes * 1000) / (performance.now() - this.#start);
    const labels = running.map(
      ([label, { size, received }]) =>
        `${label} ${formatAmount(received)}${size === undefined ? "" : ` of ${formatAmount(size)}`}`,
    );
    const line = `${this.#ended}/${this.#total} ${formatAmount(rate)}/s ${labels.join(", ")}`;
    const { columns = 80 } = this.#output;
    this.#output.write(`\r\x1b[K${line.slice(0, columns - 1)}`);
  }
}
