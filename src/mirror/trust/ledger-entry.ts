import type { Hostname } from "../../address/hostname.ts";
import {
  classifyFileFailure,
  refuseToStore,
} from "../../store/file-failure.ts";
import type { RecordKey } from "../../store/layout.ts";
import type { RecordStore } from "../../store/records/record-store.ts";
import { expectsLedger } from "../releases/signed-releases.ts";
import {
  decisionsShape,
  noDecisions,
  nothingSeen,
  seenShape,
  type Decisions,
  type NamespaceTrust,
  type Seen,
} from "./namespace-trust.ts";

/** HOSTNAME and NAMESPACE: the unit in which signing keys are trusted. */
export interface Namespace {
  readonly hostname: Hostname;
  readonly namespace: string;
}

export const seenPrefix: RecordKey = ["trust", "seen"];
export const decisionsPrefix: RecordKey = ["trust", "decisions"];

/** Milliseconds that a daemon goes without looking whether an operator decided something. */
const lookAgainAfter = 500;

const missing = "it is missing, and releases of its namespace are recorded";

/** Bytes of an empty entry, and of each item in one. */
const emptyWeight = 1_000;
const weightOfOne = 300;

interface Known {
  readonly trust: NamespaceTrust;
  /** A record of what was seen exists; if it is missing later, it was lost. */
  readonly hasBegun: boolean;
  /** On the clock that the entry was given. */
  readonly until: number;
  readonly weight: number;
}

/**
 * What is known of one namespace. A request opens it once and decides by `trust`,
 * which has at once what this process notes, and is read again by `renew`.
 */
export class LedgerEntry {
  readonly #records: RecordStore;
  readonly #seenKey: RecordKey;
  readonly #decisionsKey: RecordKey;
  readonly #namespace: Namespace;
  readonly #now: () => number;
  #known: Known | undefined;
  #renewal: Promise<void> | undefined;
  #changes = 0;

  /** `now` is monotonic, in milliseconds. */
  constructor(
    records: RecordStore,
    namespace: Namespace,
    now: () => number = () => performance.now(),
  ) {
    const place = [namespace.hostname, namespace.namespace];
    this.#records = records;
    this.#seenKey = [...seenPrefix, ...place];
    this.#decisionsKey = [...decisionsPrefix, ...place];
    this.#namespace = namespace;
    this.#now = now;
  }

  /** The same object while nothing changes. Only once `renew` has resolved. */
  get trust(): NamespaceTrust {
    if (this.#known === undefined) throw new Error("renew was not awaited");
    return this.#known.trust;
  }

  /** About how many bytes it takes. */
  get weight(): number {
    return this.#known?.weight ?? emptyWeight;
  }

  /** Sees to it that `trust` is at most half a second old. Throws RecordUnreadable. */
  renew(): NamespaceTrust | Promise<NamespaceTrust> {
    const known = this.#known;
    if (known !== undefined && this.#now() < known.until) return known.trust;
    this.#renewal ??= this.#load().finally(() => {
      this.#renewal = undefined;
    });
    return this.#renewal.then(() => this.trust);
  }

  /**
   * Changes what was seen; no change of any process is lost, and `change` may be
   * called more than once. Durable on return; resolves with what was seen before.
   * Throws RecordUnreadable and StoreFull.
   */
  async noteSeen(change: (seen: Seen) => Seen): Promise<Seen> {
    let before = nothingSeen;
    let after = nothingSeen;
    try {
      // From here on the record exists, so that its absence is a loss.
      await this.begin();
      await this.#records.change(this.#seenKey, readSeen, (seen) => {
        before = seen ?? this.#records.refuse(this.#seenKey, missing);
        return (after = change(before));
      });
    } catch (error) {
      throw asStoreFull("it saw", this.#namespace, error);
    }
    this.#remember(readSeen(after));
    return before;
  }

  /** Has a record of what is seen, be it of nothing yet. Durable on return. Throws RecordUnreadable. */
  async begin(): Promise<void> {
    if (this.#known === undefined) await this.renew();
    if (this.#known?.hasBegun === true) return;
    const seen = await this.#records.create(
      this.#seenKey,
      nothingSeen,
      readSeen,
    );
    this.#remember(seen);
  }

  /** Changes what operators decided, likewise; that something was decided is noted after it. */
  async decide(change: (decisions: Decisions) => Decisions): Promise<void> {
    await this.#load();
    try {
      await this.#records.change(this.#decisionsKey, readDecisions, (before) =>
        change(before ?? noDecisions),
      );
    } catch (error) {
      throw asStoreFull("are decided on", this.#namespace, error);
    }
    await this.noteSeen((seen) =>
      seen.hasDecisions ? seen : { ...seen, hasDecisions: true },
    );
    await this.#load();
  }

  /** What this process noted counts at once, and does not put off the next look at what others did. */
  #remember(seen: Seen): void {
    this.#changes++;
    const { until = -Infinity, trust } = this.#known ?? {};
    const decisions = trust?.decisions ?? noDecisions;
    this.#know({ seen, decisions }, true, until);
  }

  #know(trust: NamespaceTrust, hasBegun: boolean, until: number): void {
    const kept = keepSame(this.#known?.trust, trust);
    this.#known = { trust: kept, hasBegun, until, weight: weigh(kept) };
  }

  async #load(): Promise<void> {
    for (;;) {
      const changes = this.#changes;
      const until = this.#now() + lookAgainAfter;
      // In this order, since the note of decisions is written after them.
      const seen = await this.#readSeen();
      const decisions = await this.#readDecisions(seen);
      // This process noted something after that was read: read it again.
      if (changes !== this.#changes) continue;
      const trust = { seen: seen ?? nothingSeen, decisions };
      this.#know(trust, seen !== undefined, until);
      return;
    }
  }

  async #readDecisions(seen: Seen | undefined): Promise<Decisions> {
    const key = this.#decisionsKey;
    const decisions = await this.#records.read(key, readDecisions);
    if (decisions !== undefined) return decisions;
    if (seen?.hasDecisions !== true) return noDecisions;
    // Another replica may have made them meanwhile.
    const made = await this.#records.read(key, readDecisions, { anew: true });
    return (
      made ??
      this.#records.refuse(key, "it is missing, and decisions were made")
    );
  }

  /** Undefined when nothing was ever seen; throws RecordUnreadable when that was lost. */
  async #readSeen(): Promise<Seen | undefined> {
    const key = this.#seenKey;
    const seen = await this.#records.read(key, readSeen);
    if (seen !== undefined) return seen;
    if (!(await expectsLedger(this.#records, this.#namespace)))
      return undefined;
    // Another process or replica may have begun with the namespace meanwhile.
    const begun = await this.#records.read(key, readSeen, { anew: true });
    return begun ?? this.#records.refuse(key, missing);
  }
}

const readSeen = (body: unknown): Seen => seenShape.parse(body);
const readDecisions = (body: unknown): Decisions => decisionsShape.parse(body);

function asStoreFull(
  what: string,
  { hostname, namespace }: Namespace,
  error: unknown,
): unknown {
  const failure = classifyFileFailure(error);
  const subject = `the signing keys that ${what} of ${hostname}/${namespace}`;
  return failure === "full" || failure === "broken"
    ? refuseToStore(subject, error)
    : error;
}

function weigh({ seen, decisions }: NamespaceTrust): number {
  const lists = [...Object.values(seen), ...Object.values(decisions)];
  return lists.reduce<number>(
    (sum, list) => sum + (Array.isArray(list) ? weightOfOne * list.length : 0),
    emptyWeight,
  );
}

/** Lets callers see by identity that nothing changed. */
function keepSame(
  before: NamespaceTrust | undefined,
  after: NamespaceTrust,
): NamespaceTrust {
  return before !== undefined &&
    JSON.stringify(before) === JSON.stringify(after)
    ? before
    : after;
}
