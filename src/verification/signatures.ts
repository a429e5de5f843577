import { MessageChannel, type MessagePort } from "node:worker_threads";
import pLimit, { type LimitFunction } from "p-limit";
import type { Piscina } from "piscina";
import { makeThreads } from "../concurrency/threads.ts";
import { failure } from "../errors/index.ts";
import type { Fingerprint } from "./fingerprints.ts";

/**
 * Client whose answer to expiry is given: Terraform, OpenTofu, OpenTofu set to
 * enforce it. "strict" is "enforce" without SHA-1, DSA and short RSA keys.
 */
export type SignatureProfile = "terraform" | "opentofu" | "enforce" | "strict";

/** Armored key blocks, a binary signature. Plain data, as is the decision: both cross between threads. */
export interface SignatureQuestion {
  readonly document: Uint8Array;
  readonly signature: Uint8Array;
  readonly keys: readonly string[];
  readonly profile: SignatureProfile;
  readonly now: Date;
}

export interface SignatureAccepted {
  readonly accepted: true;
  readonly signedBy: Fingerprint;
  readonly createdAt: Date;
}

export interface SignatureRefused {
  readonly accepted: false;
  readonly reason:
    | ("unknown-issuer" | "unreadable-signature" | "bad-signature" | "revoked")
    | ("key-expired" | "signature-expired" | "unreadable-key" | "unusable-key")
    | "limits";
  readonly detail: string;
}

export type SignatureDecision = SignatureAccepted | SignatureRefused;

export interface SignatureTask {
  readonly question: SignatureQuestion;
  /** Starts the clock of the deadline. */
  readonly begun: MessagePort;
}

/**
 * What decided, as recorded with verdicts. A test compares it with the library
 * that is installed; to ask that itself would load it into the main thread.
 */
export const decisionVersion = `openpgp.js 6.3.2, node ${process.versions.node}, openssl ${process.versions.openssl}`;

interface SignatureThreadsSettings {
  readonly threads: number;
  /** For one decision, counted from when a thread begins with it. */
  readonly deadlineMs: number;
  readonly memoryMiB?: number;
}

/**
 * Decides on signatures away from the event loop. After the first decision one
 * thread is always there. Idle others end, since each takes tens of MiB.
 */
export class SignatureThreads {
  readonly #settings: SignatureThreadsSettings;
  readonly #turn: LimitFunction;
  #pool: Piscina<SignatureTask, SignatureDecision> | undefined;
  #isClosed = false;

  constructor(settings: SignatureThreadsSettings) {
    this.#settings = settings;
    this.#turn = pLimit(settings.threads);
  }

  /**
   * Like decideSignature. Publishers decide how large the parts are: what is over the limits is refused before it is
   * copied to a thread.
   */
  async decide(question: SignatureQuestion): Promise<SignatureDecision> {
    const { keys, signature, document } = question;
    let keyText = 0;
    for (const { length } of keys) keyText += length;
    const isLarge =
      keys.length > 16 ||
      keyText > 256 * 1024 ||
      signature.length > 16 * 1024 ||
      document.length > 1024 * 1024;
    const detail = `${keys.length} keys of ${keyText} characters, a signature of ${signature.length} and a document of ${document.length} octets are more than is read`;
    if (isLarge) return { accepted: false, reason: "limits", detail };
    if (this.#turn.pendingCount >= 1024)
      throw failure("too-busy", "signatures to verify");
    return this.#turn(() => this.#decide(question));
  }

  /** Ends the threads; what waits or is under way rejects. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#pool?.destroy();
  }

  async #decide(asked: SignatureQuestion): Promise<SignatureDecision> {
    if (this.#isClosed) throw new Error("the threads ended");
    const { threads, deadlineMs, memoryMiB: heap = 128 } = this.#settings;
    const size = { threads, always: 1, heap };
    this.#pool ??= makeThreads(import.meta.url, "./signature-worker", size);
    const { port1, port2: begun } = new MessageChannel();
    const overrun = new AbortController();
    // A thread's start takes a fraction of a second, and is not the signature's fault.
    let timer = setTimeout(() => overrun.abort(), 10_000);
    port1.once("message", () => {
      clearTimeout(timer);
      timer = setTimeout(() => overrun.abort(), deadlineMs);
    });
    // Copies: a view would take the whole buffer behind it along.
    const document = Uint8Array.from(asked.document);
    const signature = Uint8Array.from(asked.signature);
    const task = { question: { ...asked, document, signature }, begun };
    const { signal } = overrun;
    try {
      return await this.#pool.run(task, { signal, transferList: [begun] });
    } catch (cause) {
      const late = `no decision within ${deadlineMs} ms`;
      throw new Error(signal.aborted ? late : "the thread crashed", { cause });
    } finally {
      clearTimeout(timer);
      port1.close();
    }
  }
}
