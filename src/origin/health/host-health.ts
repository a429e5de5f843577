import {
  OriginBusy,
  OriginStatus,
  OriginSuspended,
  OriginTimedOut,
  OriginUnreachable,
} from "../../errors/index.ts";
import { Breaker, type BreakerTimes, type Probe } from "./breaker.ts";

/** A host, or one subject on it, that is not asked for a while. */
export interface Suspension {
  /** `host:port`. */
  readonly host: string;
  /** Undefined when it is the whole host. */
  readonly subject: string | undefined;
  readonly milliseconds: number;
  readonly reason: string;
}

/** What is told to whoever watches; never waited for. */
export interface HealthEvents {
  readonly onSuspended: (suspension: Suspension) => void;
  readonly onResumed: (host: string, subject: string | undefined) => void;
}

/** A request that may be sent; settled or abandoned once, when its answer has begun or never will. */
export interface Passage {
  /**
   * `failure` is undefined for an answer. A failure that is not the host's does
   * not count; with `isRepeated` an earlier try of the request counted already.
   */
  settle(failure: unknown, isRepeated?: boolean): void;
  /** Nobody waits any more, which says nothing about the host. */
  abandon(): void;
}

interface Watched {
  readonly breaker: Breaker;
  failure: OriginBusy | string;
}

interface Ticket {
  readonly subject: string | undefined;
  readonly probe: Probe | undefined;
  readonly own: Watched | undefined;
  readonly ownProbe: Probe | undefined;
}

/** Subjects that are watched on one host; the oldest is forgotten. */
const mostSubjects = 500;

/**
 * Whether one host is asked. Against it counts what concerns all of it: no
 * connection, no answer in time, and 5xx for more than one subject. 5xx for one
 * subject alone (a provider) suspend that subject and nothing else. 429, and
 * 503 with Retry-After, pause the host. Other statuses are answers.
 */
export class HostHealth {
  readonly #name: string;
  readonly #times: BreakerTimes;
  readonly #now: () => number;
  readonly #events: HealthEvents;
  readonly #whole: Watched;
  /** Those that failed since the host was last well. */
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
    const own = subject === undefined ? undefined : this.#subjects.get(subject);
    return this.#whole.breaker.isOpen || own?.breaker.isOpen === true;
  }

  /** Milliseconds for which every answer of it was a failure; undefined while all is well. */
  get failingFor(): number | undefined {
    const { failingSince } = this.#whole.breaker;
    return failingSince === undefined ? undefined : this.#now() - failingSince;
  }

  /** Throws OriginBusy or OriginSuspended while the host, or this subject on it, is not to be asked. */
  admit(subject: string | undefined): Passage {
    const own = subject === undefined ? undefined : this.#subjects.get(subject);
    for (const watched of [this.#whole, own])
      if (watched !== undefined) this.#refuseSuspended(watched);
    const probe = this.#whole.breaker.pass();
    const ticket = { subject, probe, own, ownProbe: own?.breaker.pass() };
    return {
      settle: (failure, isRepeated = false) => {
        const isProbe = (ticket.probe ?? ticket.ownProbe) !== undefined;
        if (failure === undefined) this.#succeed(ticket);
        else if (failure instanceof OriginBusy) this.#pause(failure);
        else if (!isRepeated || isProbe) this.#fail(ticket, failure);
        release(ticket, this.#whole);
      },
      abandon: () => release(ticket, this.#whole),
    };
  }

  #refuseSuspended({ breaker, failure }: Watched): void {
    const seconds = Math.ceil(breaker.wait(this.#now()) / 1000);
    if (seconds === 0) return;
    const url = `https://${this.#name}/`;
    throw failure instanceof OriginBusy
      ? new OriginBusy(url, seconds)
      : new OriginSuspended(url, seconds, failure);
  }

  #succeed({ subject, probe, own, ownProbe }: Ticket): void {
    if (this.#whole.breaker.succeed(probe)) {
      this.#subjects.clear();
      this.#events.onResumed(this.#name, undefined);
    } else if (subject !== undefined && own !== undefined) {
      const resumed = own.breaker.succeed(ownProbe);
      if (resumed) this.#events.onResumed(this.#name, subject);
      if (!own.breaker.isOpen) this.#subjects.delete(subject);
    }
  }

  #pause(failure: OriginBusy): void {
    const { retryAfterSeconds: seconds } = failure;
    const asked = seconds === undefined ? undefined : seconds * 1000;
    const ms = this.#whole.breaker.pause(this.#now(), asked);
    this.#note(undefined, failure, ms);
  }

  #fail({ subject, probe, ownProbe }: Ticket, failure: unknown): void {
    const now = this.#now();
    const { breaker } = this.#whole;
    if (failure instanceof OriginStatus && failure.status >= 500) {
      const reason = `status ${failure.status}`;
      this.#note(undefined, reason, breaker.fail(now, probe, subject));
      if (subject === undefined) return;
      const own = this.#watchSubject(subject);
      this.#note(subject, reason, own.breaker.fail(now, ownProbe));
    } else if (
      failure instanceof OriginUnreachable ||
      failure instanceof OriginTimedOut
    )
      this.#note(undefined, failure.code, breaker.fail(now, probe));
  }

  /** Without milliseconds nothing was suspended. */
  #note(
    subject: string | undefined,
    failure: OriginBusy | string,
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

/** Ends probes that had no outcome; those that were settled stay as they are. */
function release({ probe, own, ownProbe }: Ticket, whole: Watched): void {
  whole.breaker.release(probe);
  own?.breaker.release(ownProbe);
}
