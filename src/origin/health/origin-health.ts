import { LRUCache } from "lru-cache";
import { failure, type Failure, isFailure } from "../../errors/index.ts";
import { hostAndPort } from "../guard/address-guard.ts";

/** Hosts in memory: their names come from answers, so the least recently used is forgotten. */
const mostHosts = 1_000;

/** Requests in a row that fail before their host is suspended. */
const failuresToSuspend = 5;

/** A host that is not asked for a while. */
export interface Suspension {
  /** `host:port`. */
  readonly host: string;
  /** The only namespace that is not asked for there; undefined for the whole host. */
  readonly namespace: string | undefined;
  readonly milliseconds: number;
  readonly reason: string;
}

/** Events for observers; never waited for. */
interface HealthEvents {
  readonly onSuspended: (suspension: Suspension) => void;
  readonly onResumed: (host: string, namespace: string | undefined) => void;
}

/** A request that may be sent; settled or abandoned once, when its answer has begun or never will. */
interface Passage {
  /** `failure` is undefined for an answer; with `isRepeated` an earlier try of the request counted already. */
  settle(failure: unknown, isRepeated?: boolean): void;
  /** Nobody waits for it any longer, which proves nothing about the host. */
  abandon(): void;
}

/** Health of hosts, shared by all origins: many lead to the same hosts. */
export class OriginHealth {
  readonly #breakers: LRUCache<string, Breaker>;

  /** `now` is monotonic, in milliseconds. Probes are at most `longest` apart, except for pauses that a host asks for. */
  constructor(now: () => number, events: HealthEvents, longest = 30_000) {
    this.#breakers = new LRUCache<string, Breaker>({
      max: mostHosts,
      memoMethod: (host) => new Breaker(host, longest, now, events),
    });
  }

  admit(url: URL, subject: string | undefined): Passage {
    const namespace = subject && namespaceOf(subject);
    return this.#breakers.memo(hostAndPort(url)).admit(namespace);
  }

  /** True while the host is not asked, or by one probe at a time only. */
  isSuspended(url: URL): boolean {
    return this.#breakers.peek(hostAndPort(url))?.isSuspended ?? false;
  }

  /** Number of suspended hosts. */
  get suspended(): number {
    return [...this.#breakers.values()].filter((one) => one.isSuspended).length;
  }
}

/** `HOSTNAME/NAMESPACE` of a provider or module; of a repository, `https://HOST/OWNER`. */
function namespaceOf(subject: string): string {
  return /^(?:https:\/\/)?[^/]+\/[^/]+/.exec(subject)?.[0] ?? subject;
}

interface Opening {
  /** The only namespace that is refused; undefined for all. */
  readonly only: string | undefined;
  readonly until: number;
  /** Milliseconds when nobody asked for a time; doubled for the next one in a row. */
  readonly step: number;
  readonly because: Failure<"origin-busy"> | string;
  isProbed: boolean;
}

/**
 * Decides whether one host is asked. It opens after five requests in a row
 * without connection, without answer in time or with 5xx, and when the host
 * asks for a pause (429, or 503 with Retry-After). Once its time is over one
 * request at a time probes, and the first answer closes it.
 *
 * Publishers choose what is asked of a host that others use as well. So 5xx for
 * one namespace alone open nothing, and a pause refuses only the namespace for
 * which it was asked, until another one is told to pause too.
 */
class Breaker {
  readonly #host: string;
  readonly #longest: number;
  readonly #now: () => number;
  readonly #events: HealthEvents;
  #opening: Opening | undefined;
  #failures = 0;
  /** Namespaces of these failures, two at most; undefined is among them when one was the host's own. */
  readonly #failed = new Set<string | undefined>();

  constructor(
    host: string,
    longest: number,
    now: () => number,
    events: HealthEvents,
  ) {
    this.#host = host;
    this.#longest = longest;
    this.#now = now;
    this.#events = events;
  }

  get isSuspended(): boolean {
    return this.#opening !== undefined && this.#opening.only === undefined;
  }

  admit(namespace: string | undefined): Passage {
    const probed = this.#pass(namespace);
    const release = () => {
      if (probed !== undefined) probed.isProbed = false;
    };
    return {
      settle: (failure, isRepeated = false) => {
        release();
        if (isFailure(failure, "origin-busy")) this.#pause(namespace, failure);
        // Whether a suspended host is well again only its probe tells: others were sent before.
        else if (this.isSuspended && probed !== this.#opening) return;
        else if (failure === undefined) this.#succeed(probed);
        else if (!isRepeated || probed !== undefined)
          this.#fail(namespace, failure);
      },
      abandon: release,
    };
  }

  /** Returns the opening that this request probes, if any. */
  #pass(namespace: string | undefined): Opening | undefined {
    const opening = this.#opening;
    if (opening === undefined) return undefined;
    if (opening.only !== undefined && opening.only !== namespace)
      return undefined;
    const least = opening.isProbed ? 1_000 : 0;
    const seconds = Math.ceil(Math.max(least, this.#left) / 1000);
    const url = `https://${this.#host}/`;
    if (seconds > 0)
      throw isFailure(opening.because, "origin-busy")
        ? failure("origin-busy", url, seconds)
        : failure("origin-suspended", url, seconds, opening.because);
    opening.isProbed = true;
    return opening;
  }

  #succeed(probed: Opening | undefined): void {
    this.#failures = 0;
    this.#failed.clear();
    if (probed === undefined || probed !== this.#opening) return;
    this.#opening = undefined;
    this.#events.onResumed(this.#host, probed.only);
  }

  #fail(namespace: string | undefined, failure: unknown): void {
    const isStatus = isFailure(failure, "origin-status");
    const isLost = isFailure(failure, "origin-unreachable", "origin-timeout");
    if (!isLost && !(isStatus && failure.status >= 500)) return;
    this.#failures++;
    if (this.#failed.size < 2)
      this.#failed.add(isStatus ? namespace : undefined);
    const isCommon = this.#failed.size > 1 || this.#failed.has(undefined);
    const reason = isStatus ? `status ${failure.status}` : failure.code;
    if (this.isSuspended || (this.#failures >= failuresToSuspend && isCommon))
      this.#open(undefined, reason);
  }

  /** Two namespaces that are told to pause are a pause of the host, for as long as both are. */
  #pause(namespace: string | undefined, busy: Failure<"origin-busy">): void {
    const { retryAfterSeconds: seconds } = busy;
    const ms = seconds === undefined ? this.#step(namespace) : seconds * 1000;
    const [opening, left] = [this.#opening, this.#left];
    if (opening === undefined || left === 0) this.#open(namespace, busy, ms);
    else if (opening.only === namespace)
      this.#open(namespace, busy, Math.max(left, ms));
    else if (namespace === undefined) this.#open(undefined, busy, ms);
    else if (opening.only !== undefined)
      this.#open(undefined, busy, Math.min(left, ms));
  }

  #open(
    only: string | undefined,
    because: Opening["because"],
    milliseconds = this.#step(only),
  ): void {
    const now = this.#now();
    const until = now + milliseconds;
    const step = this.#step(only);
    this.#opening = { only, until, step, because, isProbed: false };
    const reason = typeof because === "string" ? because : because.code;
    const { onSuspended } = this.#events;
    onSuspended({ host: this.#host, namespace: only, milliseconds, reason });
  }

  #step(only: string | undefined): number {
    const before = this.#opening?.only === only ? this.#opening : undefined;
    return Math.min(
      this.#longest,
      before === undefined ? 1_000 : 2 * before.step,
    );
  }

  /** Milliseconds until requests may pass again. */
  get #left(): number {
    return Math.max(0, (this.#opening?.until ?? 0) - this.#now());
  }
}
