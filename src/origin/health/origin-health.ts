import { LRUCache } from "lru-cache";
import { failure, type Failure, isFailure } from "../../errors/index.ts";
import { hostAndPort } from "../guard/address-guard.ts";
import { Breaker, type BreakerTimes, type Probe } from "./breaker.ts";

/**
 * Hosts in memory. Their names come from answers, so they are bounded; the
 * least recently used is forgotten.
 */
const mostHosts = 1_000;

/** Health of hosts, shared by all origins: many lead to the same hosts. */
export class OriginHealth {
  readonly #hosts: LRUCache<string, HostHealth>;

  /**
   * Sets the clock, which is monotonic. Probes are at most `longest`
   * milliseconds apart, except for pauses that a host requests.
   */
  constructor(now: () => number, events: HealthEvents, longest = 30_000) {
    const times = { first: Math.min(1_000, longest), longest };
    this.#hosts = new LRUCache<string, HostHealth>({
      max: mostHosts,
      memoMethod: (name) => new HostHealth(name, times, now, events),
    });
  }

  /** Throws origin-busy or origin-suspended while the host, or this subject on it, is not to be asked. */
  admit(url: URL, subject: string | undefined): Passage {
    return this.#hosts.memo(hostAndPort(url)).admit(subject);
  }

  /** True while the host, or this subject on it, is not asked, or by one probe at a time only. */
  isSuspended(url: URL, subject?: string): boolean {
    return this.#hosts.peek(hostAndPort(url))?.isSuspended(subject) ?? false;
  }

  /** Milliseconds for which every answer of the host was a failure; undefined while all is well. */
  failingFor(url: URL): number | undefined {
    return this.#hosts.peek(hostAndPort(url))?.failingFor;
  }

  /** Number of suspended hosts. */
  get suspended(): number {
    return [...this.#hosts.values()].filter((host) => host.isSuspended())
      .length;
  }
}

/** A host, or one subject on it, that is not asked for a while. */
export interface Suspension {
  /** `host:port`. */
  readonly host: string;
  /** Undefined when it is the whole host. */
  readonly subject: string | undefined;
  readonly milliseconds: number;
  readonly reason: string;
}

/** Events for observers; never waited for. */
interface HealthEvents {
  readonly onSuspended: (suspension: Suspension) => void;
  readonly onResumed: (host: string, subject: string | undefined) => void;
}

/** A request that may be sent; settled or abandoned once, when its answer has begun or never will. */
interface Passage {
  /**
   * `failure` is undefined for an answer. A failure that is not the host's does
   * not count; with `isRepeated` an earlier try of the request counted already.
   */
  settle(failure: unknown, isRepeated?: boolean): void;
  /**
   * Ends a request that no client waits for, which proves nothing about the
   * host.
   */
  abandon(): void;
}

interface Watched {
  readonly breaker: Breaker;
  failure: Failure<"origin-busy"> | string;
}

/** Breaker that a request passed, and the request's probe of it. */
interface Passed {
  readonly watched: Watched;
  readonly probe: Probe | undefined;
}

interface Ticket {
  readonly subject: string | undefined;
  readonly whole: Passed;
  /**
   * Breakers of the subject and its namespace by name, where they are watched.
   */
  readonly own: ReadonlyMap<string, Passed>;
}

/** Subjects and namespaces that are watched on one host; the oldest is forgotten. */
const mostSubjects = 500;

/**
 * Decides whether one host is asked. Failures of the whole host count against
 * it: no connection, no answer in time, and 5xx for more than one subject.
 * 5xx for one subject alone (a provider) suspend only that subject. 429, and
 * 503 with Retry-After, pause the subject's namespace, because its publisher
 * chooses what is requested. They pause the host while two namespaces are
 * paused, and at once for a request without subject. Other statuses are
 * answers.
 */
class HostHealth {
  readonly #name: string;
  readonly #times: BreakerTimes;
  readonly #now: () => number;
  readonly #events: HealthEvents;
  readonly #whole: Watched;
  /** Those that failed since the host was last well, and namespaces that are paused. */
  readonly #subjects = new Map<string, Watched>();

  constructor(
    name: string,
    times: BreakerTimes,
    now: () => number,
    events: HealthEvents,
  ) {
    this.#name = name;
    this.#times = times;
    this.#now = now;
    this.#events = events;
    this.#whole = this.#watch();
  }

  /** True while it, or this subject on it, is not asked, or by one probe at a time only. */
  isSuspended(subject?: string): boolean {
    const own = [...this.#watchedFor(subject).values()];
    return [this.#whole, ...own].some(({ breaker }) => breaker.isOpen);
  }

  /** Milliseconds for which every answer of it was a failure; undefined while all is well. */
  get failingFor(): number | undefined {
    const { failingSince } = this.#whole.breaker;
    return failingSince === undefined ? undefined : this.#now() - failingSince;
  }

  /** Throws origin-busy or origin-suspended while the host, or this subject on it, is not to be asked. */
  admit(subject: string | undefined): Passage {
    const own = this.#watchedFor(subject);
    for (const watched of [this.#whole, ...own.values()])
      this.#refuseSuspended(watched);
    const ticket = {
      subject,
      whole: pass(this.#whole),
      own: new Map([...own].map(([name, watched]) => [name, pass(watched)])),
    };
    const passed = [ticket.whole, ...ticket.own.values()];
    const isProbe = passed.some(({ probe }) => probe !== undefined);
    const release = () => {
      for (const { watched, probe } of passed) watched.breaker.release(probe);
    };
    return {
      settle: (failure, isRepeated = false) => {
        if (failure === undefined) this.#succeed(ticket);
        else if (isFailure(failure, "origin-busy"))
          this.#pause(subject, failure);
        else if (!isRepeated || isProbe) this.#fail(ticket, failure);
        release();
      },
      abandon: release,
    };
  }

  #watchedFor(subject: string | undefined): ReadonlyMap<string, Watched> {
    const names = subject === undefined ? [] : [subject, namespaceOf(subject)];
    const found = names.map(
      (name) => [name, this.#subjects.get(name)] as const,
    );
    return new Map(
      found.flatMap(([name, own]) => (own === undefined ? [] : [[name, own]])),
    );
  }

  #refuseSuspended({ breaker, failure: last }: Watched): void {
    const seconds = Math.ceil(breaker.wait(this.#now()) / 1000);
    if (seconds === 0) return;
    const url = `https://${this.#name}/`;
    throw isFailure(last, "origin-busy")
      ? failure("origin-busy", url, seconds)
      : failure("origin-suspended", url, seconds, last);
  }

  #succeed({ whole, own }: Ticket): void {
    if (this.#whole.breaker.succeed(whole.probe)) {
      for (const [name, watched] of this.#subjects)
        if (!this.#isPaused(watched)) this.#subjects.delete(name);
      this.#events.onResumed(this.#name, undefined);
    }
    for (const [name, { watched, probe }] of own) {
      const resumed = watched.breaker.succeed(probe);
      if (resumed) this.#events.onResumed(this.#name, name);
      if (!watched.breaker.isOpen) this.#subjects.delete(name);
    }
  }

  #pause(subject: string | undefined, failure: Failure<"origin-busy">): void {
    const { retryAfterSeconds: seconds } = failure;
    const asked = seconds === undefined ? undefined : seconds * 1000;
    const now = this.#now();
    if (subject === undefined) {
      const ms = this.#whole.breaker.pause(now, asked);
      this.#note(undefined, failure, ms);
      return;
    }
    const namespace = namespaceOf(subject);
    const { breaker } = this.#watchSubject(namespace);
    this.#note(namespace, failure, breaker.pause(now, asked));
    const shared = this.#sharedPause();
    if (shared > this.#whole.breaker.wait(now))
      this.#note(undefined, failure, this.#whole.breaker.pause(now, shared));
  }

  /** Returns the milliseconds for which two namespaces are paused; 0 when fewer are. */
  #sharedPause(): number {
    const paused = [...this.#subjects.values()].filter((watched) =>
      this.#isPaused(watched),
    );
    const waits = paused.map(({ breaker }) => breaker.wait(this.#now()));
    return waits.toSorted((a, b) => b - a)[1] ?? 0;
  }

  #isPaused({ breaker, failure }: Watched): boolean {
    return isFailure(failure, "origin-busy") && breaker.wait(this.#now()) > 0;
  }

  #fail({ subject, whole, own }: Ticket, failure: unknown): void {
    const now = this.#now();
    const { breaker } = this.#whole;
    if (isFailure(failure, "origin-status") && failure.status >= 500) {
      const reason = `status ${failure.status}`;
      this.#note(undefined, reason, breaker.fail(now, whole.probe, subject));
      if (subject === undefined) return;
      const watched = this.#watchSubject(subject);
      const probe = own.get(subject)?.probe;
      this.#note(subject, reason, watched.breaker.fail(now, probe));
    } else if (isFailure(failure, "origin-unreachable", "origin-timeout"))
      this.#note(undefined, failure.code, breaker.fail(now, whole.probe));
  }

  /** Without milliseconds nothing was suspended. */
  #note(
    subject: string | undefined,
    failure: Failure<"origin-busy"> | string,
    milliseconds: number | undefined,
  ): void {
    if (milliseconds === undefined) return;
    const watched =
      subject === undefined ? this.#whole : this.#watchSubject(subject);
    watched.failure = failure;
    const reason = typeof failure === "string" ? failure : failure.code;
    const suspension = { host: this.#name, subject, milliseconds, reason };
    this.#events.onSuspended(suspension);
  }

  #watchSubject(subject: string): Watched {
    const known = this.#subjects.get(subject);
    if (known !== undefined) return known;
    const oldest = this.#subjects.keys().next().value;
    if (this.#subjects.size >= mostSubjects && oldest !== undefined)
      this.#subjects.delete(oldest);
    const watched = this.#watch();
    this.#subjects.set(subject, watched);
    return watched;
  }

  #watch(): Watched {
    return { breaker: new Breaker(this.#times), failure: "" };
  }
}

function pass(watched: Watched): Passed {
  return { watched, probe: watched.breaker.pass() };
}

/** `HOSTNAME/NAMESPACE` of a provider or module; of a repository, `https://HOST/OWNER`. */
function namespaceOf(subject: string): string {
  return /^(?:https:\/\/)?[^/]+\/[^/]+/.exec(subject)?.[0] ?? subject;
}
