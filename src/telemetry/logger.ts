import { write, writeSync } from "node:fs";
import { pino, type Level } from "pino";

export type Logger = ReturnType<typeof pino<never>>;

/** Writes lines of JSON on standard error; standard output belongs to the commands. */
export function makeLogger({ level }: { readonly level: Level }): Logger {
  const options = {
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (level: string) => ({ level }) },
    // The last place that a line passes, so that nothing of a client's gets around it.
    hooks: { streamWrite: redactTickets },
  };
  return pino(options, (standardError ??= openStandardError()));
}

/** One for all loggers of a process. */
let standardError: LineWriter | undefined;

function openStandardError(): LineWriter {
  const lines = new LineWriter(2);
  process.once("exit", () => lines.flushSync());
  return lines;
}

/**
 * Signed part of an archive's URL: `EXPIRES.HOLDER.SIGNATURE`. EXPIRES is in
 * milliseconds since 1970, with 13 digits until 2286. Digits and dots may be
 * escaped, also more than once.
 * The rest up to the next unescaped space or quote belongs to it. A version
 * `MAJOR.MINOR.PATCH` made of a date does not match, unless a signature's
 * length of text follows.
 */
const ticket =
  /(?:[0-9]|%(?:25){0,9}3[0-9]){13,16}(?:\.|%(?:25){0,9}2e)(?!\d{1,16}\.\d{1,16}(?![\w-]{40}))(?:[^\s"\\]|\\.)*/gi;

/** A line for a log without what opens an archive; JSON stays JSON. */
export function redactTickets(line: string): string {
  return line.replaceAll(ticket, "[signed]");
}

/** Characters that wait for a reader; further lines are dropped, since clients make as many as they like. */
const mostWaiting = 32 * 1024 * 1024;
/** Milliseconds that lines wait for each other, because a write costs more than its line; until a reader that is behind, and a full disk, are tried again. */
const pauses = { gather: 50, behind: 10, failing: 1_000 };
/** Milliseconds for which a process that ends waits for a reader that takes nothing. */
const patience = 1_000;

const none = Buffer.alloc(0);

/**
 * Writes lines to an open file or pipe, in their order. pino's own destinations
 * either block the daemon on a pipe that no one reads or lose the last lines.
 */
class LineWriter {
  readonly #descriptor: number;
  #text = "";
  /** Bytes before the text, and whether their write is under way. */
  #first = none;
  #isWriting = false;
  #dropped = 0;
  #pause: NodeJS.Timeout | undefined;

  constructor(descriptor: number) {
    this.#descriptor = descriptor;
  }

  write(line: string): void {
    const waiting = this.#first.length + this.#text.length;
    if (waiting + line.length > mostWaiting) this.#dropped++;
    else this.#text += line;
    this.#continueIn(pauses.gather);
  }

  /** Writes on return what is not under way, for a process that ends. */
  flushSync(): void {
    const first = this.#isWriting ? [] : [this.#first];
    let left = Buffer.concat([...first, this.#takeText()]);
    this.#first = none;
    let until = performance.now() + patience;
    while (left.length > 0 && performance.now() < until)
      try {
        left = left.subarray(writeSync(this.#descriptor, left));
        until = performance.now() + patience;
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "EAGAIN") return;
        const never = new Int32Array(new SharedArrayBuffer(4));
        Atomics.wait(never, 0, 0, pauses.behind);
      }
  }

  /** Later, since a write that has just begun when the process ends may never happen. */
  #continueIn(milliseconds: number): void {
    if (this.#isWriting) return;
    this.#pause ??= setTimeout(() => {
      this.#pause = undefined;
      if (this.#first.length === 0) this.#first = this.#takeText();
      if (this.#first.length > 0) this.#writeFirst();
    }, milliseconds).unref();
  }

  #writeFirst(): void {
    this.#isWriting = true;
    write(this.#descriptor, this.#first, (error, written) => {
      this.#isWriting = false;
      this.#first =
        written < this.#first.length ? this.#first.subarray(written) : none;
      // It has no reader any longer.
      if (error?.code === "EPIPE") [this.#first, this.#text] = [none, ""];
      const isFailing = error !== null && error.code !== "EAGAIN";
      this.#continueIn(isFailing ? pauses.failing : pauses.behind);
    });
  }

  #takeText(): Buffer<ArrayBuffer> {
    const told = this.#dropped > 0 ? tellDropped(this.#dropped) : "";
    const bytes = Buffer.from(this.#text + told);
    this.#text = "";
    this.#dropped = 0;
    return bytes;
  }
}

function tellDropped(dropped: number): string {
  const time = new Date().toISOString();
  return `{"level":"error","time":"${time}","dropped":${dropped},"msg":"lines of the log were dropped, since it could not be written or was not read"}\n`;
}
