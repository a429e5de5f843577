import { LRUCache } from "lru-cache";
import {
  classifyFileFailure,
  refuseToStore,
} from "../../store/file-failure.ts";
import { expectsLedger } from "../releases/signed-releases.ts";
import type { Hostname } from "../../address/hostname.ts";
import type { RecordKey } from "../../store/layout.ts";
import type { RecordStore } from "../../store/records/record-store.ts";
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

/** How long a daemon goes without looking whether an operator decided something. */
const lookAgainAfter = 500;

/** Clients may ask for any namespace, so memory is bounded: 16 MiB. */
const memoryBytes = 16 * 1024 * 1024;

const missing = "it is missing, and releases of its namespace are recorded";

interface Remembered {
  readonly trust: NamespaceTrust;
  readonly until: number;
}

/**
 * What the mirror saw of each namespace's keys, and what operators decided.
 * The two are separate records: mirrors write what they saw, the `trust` command
 * writes decisions, also while a daemon runs.
 */
export class TrustLedger {
  readonly #records: RecordStore;
  readonly #memory = new LRUCache<string, Remembered>({
    maxSize: memoryBytes,
    sizeCalculation: ({ trust }) => weigh(trust),
  });

  constructor(records: RecordStore) {
    this.#records = records;
  }

  /** At most half a second old; the same object as before while nothing changed. Throws RecordUnreadable. */
  async read(namespace: Namespace): Promise<NamespaceTrust> {
    const name = nameOf(namespace);
    const remembered = this.#memory.get(name);
    const now = performance.now();
    if (remembered !== undefined && now < remembered.until)
      return remembered.trust;
    const trust = keepSame(remembered?.trust, await this.#load(namespace));
    this.#memory.set(name, { trust, until: now + lookAgainAfter });
    return trust;
  }

  /**
   * Changes what was seen; no change of any process is lost, and `change` may be
   * called more than once. Durable on return; resolves with what was seen before.
   * Throws RecordUnreadable and StoreFull.
   */
  async noteSeen(
    namespace: Namespace,
    change: (seen: Seen) => Seen,
  ): Promise<Seen> {
    let seen = nothingSeen;
    try {
      // So that what is absent now is no loss.
      await this.begin(namespace);
      await this.#records.change(seenKey(namespace), readSeen, (before) => {
        seen = before ?? nothingSeen;
        return change(seen);
      });
    } catch (error) {
      throw asStoreFull(namespace, error);
    }
    this.#memory.delete(nameOf(namespace));
    return seen;
  }

  /** Has a record of what is seen, be it of nothing yet. Durable on return. Throws RecordUnreadable. */
  async begin(namespace: Namespace): Promise<void> {
    const key = seenKey(namespace);
    if ((await this.#readSeen(namespace)) !== undefined) return;
    await this.#records.create(key, nothingSeen, readSeen);
    this.#memory.delete(nameOf(namespace));
  }

  /** Changes what operators decided, likewise; that something was decided is noted after it. */
  async decide(
    namespace: Namespace,
    change: (decisions: Decisions) => Decisions,
  ): Promise<void> {
    await this.#load(namespace);
    await this.#records.change(
      decisionsKey(namespace),
      readDecisions,
      (before) => change(before ?? noDecisions),
    );
    await this.noteSeen(namespace, (seen) =>
      seen.hasDecisions ? seen : { ...seen, hasDecisions: true },
    );
  }

  /** Every namespace of which something is known, sorted. */
  async list(): Promise<readonly Namespace[]> {
    const found = new Map<string, Namespace>();
    for (const kind of [seenPrefix, decisionsPrefix])
      for (const hostname of await this.#records.folders(kind))
        for (const namespace of await this.#records.list([...kind, hostname]))
          found.set(`${hostname}/${namespace}`, {
            hostname: hostname as Hostname,
            namespace,
          });
    return [...found.keys()].toSorted().flatMap((name) => {
      const namespace = found.get(name);
      return namespace ? [namespace] : [];
    });
  }

  async #load(namespace: Namespace): Promise<NamespaceTrust> {
    // In this order, since the note of decisions is written after them.
    const seen = (await this.#readSeen(namespace)) ?? nothingSeen;
    const key = decisionsKey(namespace);
    const decisions = await this.#records.read(key, readDecisions);
    if (decisions === undefined && seen.hasDecisions)
      this.#records.refuse(key, "it is missing, and decisions were made");
    return { seen, decisions: decisions ?? noDecisions };
  }

  /** Undefined when nothing was ever seen; throws RecordUnreadable when that was lost. */
  async #readSeen(namespace: Namespace): Promise<Seen | undefined> {
    const key = seenKey(namespace);
    const seen = await this.#records.read(key, readSeen);
    if (seen !== undefined) return seen;
    if (!(await expectsLedger(this.#records, namespace))) return undefined;
    // Another process may have begun with the namespace meanwhile.
    const begun = await this.#records.read(key, readSeen);
    return begun ?? this.#records.refuse(key, missing);
  }
}

const seenPrefix: RecordKey = ["trust", "seen"];
const readSeen = (body: unknown): Seen => seenShape.parse(body);
const readDecisions = (body: unknown): Decisions => decisionsShape.parse(body);
const decisionsPrefix: RecordKey = ["trust", "decisions"];

function seenKey({ hostname, namespace }: Namespace): RecordKey {
  return [...seenPrefix, hostname, namespace];
}

function decisionsKey({ hostname, namespace }: Namespace): RecordKey {
  return [...decisionsPrefix, hostname, namespace];
}

function asStoreFull(namespace: Namespace, error: unknown): unknown {
  const failure = classifyFileFailure(error);
  const subject = `the signing keys that it saw of ${nameOf(namespace)}`;
  return failure === "full" || failure === "broken"
    ? refuseToStore(subject, error)
    : error;
}

function nameOf({ hostname, namespace }: Namespace): string {
  return `${hostname}/${namespace}`;
}

/** About how many bytes it takes. */
function weigh({ seen, decisions }: NamespaceTrust): number {
  const lists = [...Object.values(seen), ...Object.values(decisions)];
  return lists.reduce<number>(
    (sum, list) => sum + (Array.isArray(list) ? 300 * list.length : 0),
    1_000,
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
