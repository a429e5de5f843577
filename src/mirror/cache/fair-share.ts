import { failure, type Failure } from "../../errors/index.ts";

/** Download that competes for a place. */
export interface Sharer {
  readonly origin: string;
  readonly namespace: string;
  /** False while no client would miss it. */
  readonly isWanted: () => boolean;
}

/** The right to download, until it is disposed of. */
export interface Turn extends Disposable {
  /** Aborts with too-busy when the download has to end, because others wait. */
  readonly signal: AbortSignal;
  /** Host that it is downloaded from, once known. */
  noteHost(host: string): void;
  /** Waits for its turn before each piece; rejects when `signal` aborts. */
  proceed(): Promise<void>;
}

export interface ShareLimits {
  readonly fills: number;
  readonly fillsPerOrigin: number;
}

/** Downloads in all, and clients that wait for them. */
export const shareLimits = { fills: 64, waiters: 4_096 };

/** Milliseconds before an unwanted download makes way for one that waits. */
export const patienceWithUnwanted = 2_000;
/** Milliseconds before a download makes way for a namespace that has fewer. */
export const patienceWithGreedy = 5_000;
/** Milliseconds before a download makes way for a namespace that has as many. */
export const patienceWithEqual = 30_000;
/** Milliseconds that a download waits at most; then it is refused. */
export const longestWait = 120_000;
const beat = 500;
/** Suspended downloads for each place at an origin; further ones are ended. */
const suspendedPerPlace = 3;

interface Entry extends Sharer {
  readonly ending: AbortController;
  /** Its origin, namespace and, once that is known, host. */
  groups: readonly string[];
  /** Start of its wait or run, on the monotonic clock. */
  since: number;
  hasRun: boolean;
  turn: PromiseWithResolvers<void>;
}

/**
 * Places for downloads: a total, and a number for each origin. The entry with
 * the fewest downloads in its namespace and host is admitted first.
 * While entries wait, an abandoned download is ended. Others are suspended
 * after a while and queue again, so that slow ones cannot keep their places.
 */
export class FairShare {
  readonly #limits: ShareLimits;
  readonly #running = new RunningEntries();
  readonly #waiting = new Set<Entry>();
  #timer: NodeJS.Timeout | undefined;

  constructor(limits: ShareLimits) {
    this.#limits = limits;
  }

  /** Resolves when it is the sharer's turn. Throws too-busy when that does not come in `longestWait`, and the signal's reason. */
  async take(sharer: Sharer, signal?: AbortSignal): Promise<Turn> {
    const entry: Entry = {
      ...sharer,
      ending: new AbortController(),
      groups: groupsOf(sharer),
      since: 0,
      hasRun: false,
      turn: Promise.withResolvers(),
    };
    const end = () => this.#end(entry, signal?.reason);
    const leave = () => {
      signal?.removeEventListener("abort", end);
      this.#leave(entry);
    };
    signal?.addEventListener("abort", end);
    try {
      signal?.throwIfAborted();
      this.#line(entry);
      this.#admit();
      await entry.turn.promise;
    } catch (error) {
      leave();
      throw error;
    }
    return {
      signal: entry.ending.signal,
      noteHost: (host) => this.#noteHost(entry, host),
      proceed: () => entry.turn.promise,
      [Symbol.dispose]: leave,
    };
  }

  get load(): { readonly fills: number; readonly waiting: number } {
    return { fills: this.#running.entries.size, waiting: this.#waiting.size };
  }

  #noteHost(entry: Entry, host: string): void {
    const isRunning = this.#running.entries.has(entry);
    this.#running.delete(entry);
    entry.groups = [...groupsOf(entry), `host ${host}`];
    if (isRunning) this.#running.add(entry);
  }

  /** Puts the entry at the end of the queue. */
  #line(entry: Entry): void {
    entry.turn = Promise.withResolvers();
    // Nothing waits for it when the download ends meanwhile.
    entry.turn.promise.catch(() => undefined);
    entry.since = performance.now();
    this.#waiting.add(entry);
  }

  #leave(entry: Entry): void {
    this.#running.delete(entry);
    this.#waiting.delete(entry);
    this.#admit();
  }

  #end(entry: Entry, reason: unknown): void {
    this.#running.delete(entry);
    this.#waiting.delete(entry);
    entry.turn.reject(reason);
    entry.turn = Promise.withResolvers();
    entry.turn.promise.catch(() => undefined);
    entry.turn.reject(reason);
    entry.ending.abort(reason);
  }

  /** Admits waiting entries while there are places. */
  #admit(): void {
    for (let next = this.#next(); next !== undefined; next = this.#next()) {
      this.#waiting.delete(next);
      this.#running.add(next);
      next.since = performance.now();
      next.hasRun = true;
      next.turn.resolve();
    }
    if (this.#waiting.size > 0)
      this.#timer ??= setInterval(() => this.#tick(), beat);
    else {
      clearInterval(this.#timer);
      this.#timer = undefined;
    }
  }

  #next(): Entry | undefined {
    let best: Rank | undefined;
    for (const entry of this.#waiting) {
      if (!this.#hasPlace(entry)) continue;
      const rank = this.#rank(entry);
      if (best === undefined || compareRanks(rank, best) < 0) best = rank;
    }
    return best?.entry;
  }

  #tick(): void {
    for (const entry of this.#waiting)
      if (hasPassed(entry, longestWait)) this.#end(entry, refusal());
    const ranks = [...this.#waiting].map((entry) => this.#rank(entry));
    const first = ranks.toSorted(compareRanks).slice(0, this.#limits.fills);
    for (const { entry } of first) this.#makeWayFor(entry);
    this.#admit();
  }

  #rank(entry: Entry): Rank {
    const has = this.#running.countBeside(entry, undefined);
    return { entry, isWanted: entry.isWanted(), has };
  }

  #makeWayFor(entry: Entry): void {
    if (!entry.isWanted() || this.#hasPlace(entry)) return;
    const most = this.#limits.fillsPerOrigin * suspendedPerPlace;
    const isCrowded = !entry.hasRun && this.#countSuspended(entry) >= most;
    const leaving = this.#findLeaving(
      entry,
      isCrowded ? patienceWithGreedy : patienceWithEqual,
    );
    if (leaving === undefined) return;
    if (isCrowded || !leaving.isWanted()) this.#end(leaving, refusal());
    else {
      this.#running.delete(leaving);
      this.#line(leaving);
    }
    this.#admit();
  }

  #countSuspended({ origin }: Entry): number {
    return [...this.#waiting].filter(
      (one) => one.hasRun && one.origin === origin,
    ).length;
  }

  /** Picks the download to end: an unwanted one, else one of a namespace with more, else the one that had its place longest. */
  #findLeaving(entry: Entry, mostPatience: number): Entry | undefined {
    const isOriginFull = !this.#hasPlaceAt(entry.origin);
    return [...this.#running.entries]
      .filter((one) => !isOriginFull || one.origin === entry.origin)
      .map((one) => ({ one, patience: this.#patience(entry, one) }))
      .filter(
        ({ one, patience }) =>
          patience <= mostPatience &&
          hasPassed(entry, patience) &&
          hasPassed(one, patience),
      )
      .toSorted((a, b) => a.patience - b.patience || a.one.since - b.one.since)
      .at(0)?.one;
  }

  /** Milliseconds after which `entry` may have the place that `one` has. */
  #patience(entry: Entry, one: Entry): number {
    if (!one.isWanted()) return patienceWithUnwanted;
    const has = this.#running.countBeside(one, one);
    const would = this.#running.countBeside(entry, one);
    if (would < has) return patienceWithGreedy;
    return would === has ? patienceWithEqual : Infinity;
  }

  #hasPlace({ origin }: Entry): boolean {
    return (
      this.#running.entries.size < this.#limits.fills &&
      this.#hasPlaceAt(origin)
    );
  }

  #hasPlaceAt(origin: string): boolean {
    return this.#running.countAt(origin) < this.#limits.fillsPerOrigin;
  }
}

interface Rank {
  readonly entry: Entry;
  readonly isWanted: boolean;
  readonly has: number;
}

/** Orders by wanted first, then by fewest downloads. */
function compareRanks(a: Rank, b: Rank): number {
  return Number(b.isWanted) - Number(a.isWanted) || a.has - b.has;
}

/** Running downloads, counted by origin, by namespace and by host. */
class RunningEntries {
  readonly entries = new Set<Entry>();
  readonly #counts = new Map<string, number>();

  add(entry: Entry): void {
    if (this.entries.has(entry)) return;
    this.entries.add(entry);
    for (const group of entry.groups) this.#change(group, 1);
  }

  delete(entry: Entry): void {
    if (!this.entries.delete(entry)) return;
    for (const group of entry.groups) this.#change(group, -1);
  }

  countAt(origin: string): number {
    return this.#counts.get(originGroup(origin)) ?? 0;
  }

  /** Counts running downloads in the entry's groups, without `gone`. */
  countBeside(entry: Entry, gone: Entry | undefined): number {
    let sum = 0;
    for (const group of entry.groups) {
      sum += this.#counts.get(group) ?? 0;
      if (gone?.groups.includes(group) === true) sum--;
    }
    return sum;
  }

  #change(group: string, by: number): void {
    const count = (this.#counts.get(group) ?? 0) + by;
    if (count > 0) this.#counts.set(group, count);
    else this.#counts.delete(group);
  }
}

function groupsOf({ origin, namespace }: Sharer): readonly string[] {
  return [originGroup(origin), `namespace ${origin}/${namespace}`];
}

function originGroup(origin: string): string {
  return `origin ${origin}`;
}

function hasPassed({ since }: Entry, ms: number): boolean {
  return performance.now() - since >= ms;
}

function refusal(): Failure<"too-busy"> {
  return failure("too-busy", "downloads from this origin");
}
