import type { DestinationStream } from "pino";

/** Lines wait for each other for this many milliseconds or characters, because a write costs more than its line and wakes a thread. */
const longest = 50;
export const mostGathered = 16_000;

interface LinesFile extends DestinationStream {
  /** Begins to write what waits to be written. */
  flush(): void;
  /** Has written it on return. */
  flushSync(): void;
}

/**
 * Hands lines on together. What writes to files could gather them, too, but
 * would go through all that it has with each line.
 */
export class GatheredLines implements DestinationStream {
  readonly #file: LinesFile;
  #text = "";
  #timer: NodeJS.Timeout | undefined;

  /** `file` begins by itself to write `mostGathered` characters and more. */
  constructor(file: LinesFile) {
    this.#file = file;
  }

  write(line: string): void {
    this.#text += line;
    if (this.#text.length >= mostGathered) this.#handOn();
    this.#timer ??= setTimeout(() => this.#flush(), longest).unref();
  }

  /** For a process that ends. */
  flushSync(): void {
    this.#handOn();
    this.#file.flushSync();
  }

  #flush(): void {
    this.#timer = undefined;
    this.#handOn();
    this.#file.flush();
  }

  #handOn(): void {
    this.#file.write(this.#text);
    this.#text = "";
  }
}
