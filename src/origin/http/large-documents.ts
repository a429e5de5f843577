import { untilAborted } from "../../concurrency/in-time.ts";
import { JsonThreads } from "./json-threads.ts";
import { KeyedLimit } from "../../concurrency/keyed-limit.ts";

/** Bytes up to which any number of documents is held at once. */
const largerThan = 256 * 1024;
/** Documents beyond that, each whole in memory until it is parsed. */
const atOnce = 4;
const ofOneHost = 3;

/** The right to hold one document, however large it becomes; dispose of it when its bytes are let go. */
export class DocumentPlace implements Disposable {
  readonly #enter: () => Promise<() => void>;
  #leave: (() => void) | undefined;

  constructor(enter: () => Promise<() => void>) {
    this.#enter = enter;
  }

  /** Resolves when so many bytes may be held: at once, or when it is the document's turn. */
  async hold(bytes: number): Promise<void> {
    if (bytes <= largerThan || this.#leave !== undefined) return;
    this.#leave = await this.#enter();
  }

  [Symbol.dispose](): void {
    this.#leave?.();
  }
}

/** Few large documents are held and read at once, because what a registry may send is hundreds of times what it usually does. */
export class LargeDocuments {
  readonly threads = new JsonThreads();
  readonly #limit = new KeyedLimit(atOnce, ofOneHost);

  /** Whoever waits is refused as the signal aborts; `host` is the one that is asked. */
  place(host: string, signal: AbortSignal): DocumentPlace {
    return new DocumentPlace(() => this.#enter(host, signal));
  }

  async close(): Promise<void> {
    await this.threads.close();
  }

  /** Resolves with what gives the place back. */
  async #enter(host: string, signal: AbortSignal): Promise<() => void> {
    const { promise: entered, resolve: enter } =
      Promise.withResolvers<() => void>();
    const { promise: left, resolve: leave } = Promise.withResolvers<void>();
    void this.#limit.run(host, () => {
      enter(leave);
      return left;
    });
    return untilAborted(entered, signal).catch((error: unknown) => {
      // Its turn comes all the same, and passes at once.
      leave();
      throw error;
    });
  }
}
