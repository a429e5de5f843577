import { write, writeSync } from "node:fs";
import type { DestinationStream } from "pino";

/** Bytes that wait for a reader; further lines are dropped, since clients make as many as they like. */
const mostWaiting = 32 * 1024 * 1024;
/** Milliseconds until what could not be written is tried again: a reader may be behind, or a disk full. */
const pauses = { behind: 10, failing: 1_000 };
/** Milliseconds for which a process that ends waits for a reader that takes nothing. */
const patience = 1_000;

/**
 * Writes lines to a file, a pipe or a terminal, in their order. No process is ended
 * by a full disk, a reader that stands still or one that is gone: what does not
 * fit into memory meanwhile is counted, and the count is a line.
 */
export class LogFile {
  readonly #descriptor: number;
  #waiting: Buffer[] = [];
  #bytes = 0;
  #dropped = 0;
  #isGone = false;
  /**
   * Bytes written before all that wait, and whether their write is under way.
   */
  #first: Buffer | undefined;
  #isWriting = false;
  #pause: NodeJS.Timeout | undefined;

  constructor(descriptor: number) {
    this.#descriptor = descriptor;
  }

  write(lines: string): void {
    if (this.#isGone || lines === "") return;
    const bytes = Buffer.from(lines);
    if (this.#bytes + bytes.length > mostWaiting) {
      this.#dropped += lines.split("\n").length - 1;
      return;
    }
    this.#add(bytes);
    // Later, since a write that has just begun when the process ends may never happen.
    if (this.#pause === undefined && !this.#isWriting) this.#continueIn(0);
  }

  /** Has written on return what is not under way, and `lines`, if they can be written. */
  flushSync(lines: string): void {
    if (this.#isGone) return;
    const first = this.#isWriting ? undefined : this.#first;
    const own = [...(first ? [first] : []), ...this.#waiting];
    if (first !== undefined) this.#first = undefined;
    this.#waiting = [];
    for (const { length } of own) this.#bytes -= length;
    writeAll(this.#descriptor, Buffer.concat([...own, Buffer.from(lines)]));
  }

  #add(bytes: Buffer): void {
    this.#bytes += bytes.length;
    this.#waiting.push(bytes);
  }

  #next(): void {
    this.#first ??= this.#waiting.shift();
    const bytes = this.#first;
    if (this.#isWriting || bytes === undefined) return;
    this.#isWriting = true;
    write(this.#descriptor, bytes, (error, written) => {
      this.#isWriting = false;
      if (error === null) this.#take(bytes, written);
      else if (error.code === "EPIPE") this.#leave();
      else this.#continueIn(isBehind(error) ? pauses.behind : pauses.failing);
    });
  }

  #take(bytes: Buffer, written: number): void {
    this.#bytes -= written;
    const isWhole = written === bytes.length;
    this.#first = isWhole ? undefined : bytes.subarray(written);
    if (isWhole && this.#dropped > 0) this.#tellDropped();
    this.#next();
  }

  #continueIn(milliseconds: number): void {
    this.#pause = setTimeout(() => {
      this.#pause = undefined;
      this.#next();
    }, milliseconds).unref();
  }

  #tellDropped(): void {
    const dropped = this.#dropped;
    this.#dropped = 0;
    const line = `{"level":"error"${isoTime()},"dropped":${dropped},"msg":"lines of the log were dropped, since it could not be written or was not read"}\n`;
    this.#add(Buffer.from(line));
  }

  /** It has no reader any longer. */
  #leave(): void {
    this.#isGone = true;
    this.#waiting = [];
    this.#first = undefined;
  }
}

function writeAll(descriptor: number, bytes: Buffer): void {
  let left = bytes;
  let until = performance.now() + patience;
  while (left.length > 0 && performance.now() < until)
    try {
      left = left.subarray(writeSync(descriptor, left));
      until = performance.now() + patience;
    } catch (error) {
      if (!isBehind(error)) return;
      const never = new Int32Array(new SharedArrayBuffer(4));
      Atomics.wait(never, 0, 0, pauses.behind);
    }
}

function isBehind(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === "EAGAIN";
}

/** Lines wait for each other for this many milliseconds or characters, because a write costs more than its line and wakes a thread. */
const longest = 50;
const mostGathered = 16_000;

/** Hands lines on together. */
export class GatheredLines implements DestinationStream {
  readonly #file: LogFile;
  #text = "";
  #timer: NodeJS.Timeout | undefined;

  constructor(file: LogFile) {
    this.#file = file;
  }

  write(line: string): void {
    this.#text += line;
    if (this.#text.length >= mostGathered) this.#handOn();
    this.#timer ??= setTimeout(() => this.#flush(), longest).unref();
  }

  /** Writes the rest synchronously, for a process that ends. */
  flushSync(): void {
    this.#file.flushSync(this.#text);
    this.#text = "";
  }

  #flush(): void {
    this.#timer = undefined;
    this.#handOn();
  }

  #handOn(): void {
    this.#file.write(this.#text);
    this.#text = "";
  }
}

let last = { at: 0, text: "" };

/** Now, as a field of a line; made once a millisecond. */
export function isoTime(): string {
  const at = Date.now();
  if (at !== last.at)
    last = { at, text: `,"time":"${new Date(at).toISOString()}"` };
  return last.text;
}
