import { setTimeout as pause } from "node:timers/promises";
import { z } from "zod";
import {
  BucketHasWriter,
  BucketUnreachable,
  isBucketFailure,
  type ProvenderError,
} from "../../../errors/index.ts";
import { readJson } from "../../json-text.ts";
import { leaseObject } from "../../layout.ts";
import { bodyOf } from "../bucket-connection.ts";
import type { Bucket } from "../bucket.ts";

/** Milliseconds between two signs of life of the writer. */
const beat = 4_000;
/** Milliseconds without one, on the watcher's own clock, after which the writer counts as dead. */
const dead = 15_000;
/** Milliseconds after its last sign of life for which a writer writes: it stops before it counts as dead. */
const permitted = 12_000;
/** Milliseconds that a claim waits for others made at the same time; one that took over half of that to write is given up. */
const settling = 1_000;
/** Milliseconds between two looks. */
const interval = 300;

const lease = leaseObject("writer");

const shape = z.object({ id: z.string(), name: z.string() });

/** A storage directory whose processes write. */
interface Writer {
  /** Of no other directory. */
  readonly id: string;
  /** For people: where it is. */
  readonly name: string;
}

/** `mine` also when another process of the directory has it. */
type State =
  | { readonly kind: "free" | "mine" }
  | {
      readonly kind: "another";
      readonly name: string;
      /** It gave a sign of life since the first look. */
      readonly isAlive: boolean;
    };

/**
 * Who writes to a bucket that cannot have several writers. It relies on nothing
 * but that what was written last is read, and compares no clocks: a writer whose
 * sign of life stays the same for 15 s of the watcher's time is dead.
 */
export class WriterLease {
  readonly #bucket: Bucket;
  readonly #writer: Writer;
  #seen: { readonly etag: string; readonly since: number } | undefined;
  #timer: NodeJS.Timeout | undefined;
  #beating: Promise<void> = Promise.resolve();
  #isJoined = false;

  constructor(bucket: Bucket, writer: Writer) {
    this.#bucket = bucket;
    this.#writer = writer;
  }

  /** Resolves when this directory is the writer, after 15 s where a dead one was. Throws BucketHasWriter, and what the bucket throws: then it goes on trying. */
  async take(): Promise<void> {
    this.#forbid(new BucketUnreachable(this.#bucket.name, "not asked yet"));
    try {
      this.#isJoined = (await this.#awaitTurn()) === "mine";
      await this.#claim(performance.now());
    } catch (error) {
      if (isBucketFailure(error)) this.#forbid(error);
      throw error;
    } finally {
      this.#timer = setInterval(() => this.#beat(), beat).unref();
    }
  }

  /** Resolves when nobody writes alone. Throws BucketHasWriter and what the bucket throws. */
  async expectNone(): Promise<void> {
    await this.#awaitTurn();
    // So that nobody waits for the dead one again.
    if (this.#seen !== undefined) await this.#bucket.delete(lease);
  }

  /** So that the next one need not wait. Another process of the directory may go on. */
  async release(): Promise<void> {
    clearInterval(this.#timer);
    await this.#beating;
    if (this.#isJoined) return;
    const state = await this.#look().catch(() => undefined);
    if (state?.kind === "mine")
      await this.#bucket.delete(lease).catch(() => undefined);
  }

  async #awaitTurn(): Promise<"free" | "mine"> {
    for (;;) {
      const state = await this.#look();
      if (state.kind !== "another") return state.kind;
      if (state.isAlive) throw this.#refusal(state.name);
      await pause(interval);
    }
  }

  #beat(): void {
    this.#beating = this.#beating.then(async () => {
      try {
        const state = await this.#look();
        if (state.kind === "another") this.#forbid(this.#refusal(state.name));
        else if (state.kind === "free") await this.#claim(performance.now());
        else await this.#sign();
      } catch {
        // It may not write for long without a sign of life.
      }
    });
  }

  async #look(): Promise<State> {
    const found = await this.#bucket.get(lease, true);
    if (found === undefined) return { kind: "free" };
    const { etag } = found;
    const holder = readJson(shape, await this.#bucket.readText(found));
    if (holder?.id === this.#writer.id) return { kind: "mine" };
    const now = performance.now();
    const before = this.#seen;
    if (before?.etag === etag && now - before.since >= dead)
      return { kind: "free" };
    if (before?.etag !== etag) this.#seen = { etag, since: now };
    const isAlive = before !== undefined && before.etag !== etag;
    return { kind: "another", name: holder?.name ?? "another one", isAlive };
  }

  /** Of those who claim it at once, the last one has it; `free` is when it was seen to be free. */
  async #claim(free: number): Promise<void> {
    const since = await this.#write();
    const isLate = performance.now() - free > settling / 2;
    await pause(settling);
    const state = await this.#look();
    if (state.kind === "another") throw this.#refusal(state.name);
    if (isLate) throw this.#tooSlow();
    this.#permit(since);
  }

  async #sign(): Promise<void> {
    this.#permit(await this.#write());
  }

  /** Returns when that was, at the earliest. */
  async #write(): Promise<number> {
    const since = performance.now();
    const nonce = crypto.randomUUID();
    const body = bodyOf(JSON.stringify({ ...this.#writer, nonce }));
    await this.#bucket.put(lease, body, true);
    return since;
  }

  #permit(since: number): void {
    this.#bucket.connection.permit(since + permitted, this.#tooSlow());
  }

  #tooSlow(): BucketUnreachable {
    const reason = "not in time to tell that this replica writes there";
    return new BucketUnreachable(this.#bucket.name, reason);
  }

  #forbid(error: ProvenderError): void {
    this.#bucket.connection.permit(-Infinity, error);
  }

  #refusal(name: string): BucketHasWriter {
    return new BucketHasWriter(this.#bucket.name, name);
  }
}
