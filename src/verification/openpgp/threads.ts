import { MessageChannel } from "node:worker_threads";
import pLimit, { type LimitFunction } from "p-limit";
import type { Piscina } from "piscina";
import { makeThreads } from "../../concurrency/threads.ts";
import { failure } from "../../errors/index.ts";
import { checkQuestionSize } from "./packets/limits.ts";
import { formatRefusal } from "./packets/refusal.ts";
import type { SignatureTask } from "./signature-worker.ts";
import type { SignatureDecision, SignatureQuestion } from "./signature.ts";

const mostWaiting = 1024;

/**
 * Milliseconds for a thread's start, which takes a fraction of a second and is
 * not the signature's fault.
 */
const startMs = 10_000;

/** The thread was ended because it took too long: nothing is known about the signature. */
export class SignatureDeadlinePassed extends Error {
  readonly deadlineMs: number;
  constructor(deadlineMs: number, options?: ErrorOptions) {
    super(`no decision within ${deadlineMs} ms`, options);
    this.deadlineMs = deadlineMs;
  }
}

/** The thread ended by itself, out of memory for one: nothing is known about the signature. */
export class SignatureThreadCrashed extends Error {}

interface SignatureThreadsSettings {
  readonly threads: number;
  /**
   * Milliseconds for one decision, counted from when a thread begins with it.
   */
  readonly deadlineMs: number;
  /** MiB for the JavaScript heap of one thread; 128 by default. */
  readonly memoryMiB?: number;
}

/**
 * Decides on signatures away from the event loop, in a bounded number of
 * threads. After the first decision one is always there. Idle others end, since
 * each takes tens of MiB.
 */
export class SignatureThreads {
  readonly #deadlineMs: number;
  readonly #memoryMiB: number;
  readonly #threads: number;
  #pool: Piscina<SignatureTask, SignatureDecision> | undefined;
  #isClosed = false;
  readonly #turn: LimitFunction;

  constructor(settings: SignatureThreadsSettings) {
    const { threads, deadlineMs, memoryMiB = 128 } = settings;
    this.#deadlineMs = deadlineMs;
    this.#memoryMiB = memoryMiB;
    this.#threads = threads;
    this.#turn = pLimit(threads);
  }

  /**
   * Like decideSignature, within the deadline. Throws too-busy, SignatureDeadlinePassed or SignatureThreadCrashed; what is
   * over the limits is refused here, before it is copied to a thread.
   */
  async decide(question: SignatureQuestion): Promise<SignatureDecision> {
    try {
      checkQuestionSize(question);
    } catch (error) {
      return formatRefusal(error);
    }
    if (this.#turn.pendingCount >= mostWaiting)
      throw failure("too-busy", "signatures to verify");
    return this.#turn(() => this.#decide(question));
  }

  /** Ends the threads; what waits or is under way rejects. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#pool?.destroy();
  }

  #makePool(): Piscina<SignatureTask, SignatureDecision> {
    return makeThreads(import.meta.url, "./signature-worker", {
      threads: this.#threads,
      always: 1,
      heap: this.#memoryMiB,
    });
  }

  async #decide(question: SignatureQuestion): Promise<SignatureDecision> {
    if (this.#isClosed) throw new SignatureThreadCrashed("the threads ended");
    const { port1, port2 } = new MessageChannel();
    const overrun = new AbortController();
    const abort = () => overrun.abort();
    let timer = setTimeout(abort, startMs);
    port1.once("message", () => {
      clearTimeout(timer);
      timer = setTimeout(abort, this.#deadlineMs);
    });
    try {
      const task = { question: copy(question), begun: port2 };
      return await (this.#pool ??= this.#makePool()).run(task, {
        signal: overrun.signal,
        transferList: [port2],
      });
    } catch (error) {
      throw overrun.signal.aborted
        ? new SignatureDeadlinePassed(this.#deadlineMs, { cause: error })
        : new SignatureThreadCrashed("the thread crashed", { cause: error });
    } finally {
      clearTimeout(timer);
      port1.close();
    }
  }
}

/** A view would take the whole buffer behind it along. */
function copy(question: SignatureQuestion): SignatureQuestion {
  const { document, signature } = question;
  return {
    ...question,
    document: Uint8Array.from(document),
    signature: Uint8Array.from(signature),
  };
}
