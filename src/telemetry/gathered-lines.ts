import type { DestinationStream } from "pino";
import type { LogFile } from "./log-file.ts";

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
