import { hostAndPort } from "../guard/address-guard.ts";
import type { BreakerTimes } from "./breaker.ts";
import { HostHealth, type HealthEvents, type Passage } from "./host-health.ts";

/** Hosts' names come from answers, so they are bounded; the oldest is forgotten. */
const mostHosts = 1_000;

/** Which hosts are asked at all, for all origins together: many lead to the same hosts. */
export class OriginHealth {
  readonly #now: () => number;
  readonly #times: BreakerTimes;
  readonly #events: HealthEvents;
  readonly #hosts = new Map<string, HostHealth>();

  /** `now` is monotonic; probes are at most `longest` milliseconds apart, but for the pauses that a host asks for. */
  constructor(now: () => number, events: HealthEvents, longest = 30_000) {
    this.#now = now;
    this.#events = events;
    this.#times = { first: Math.min(1_000, longest), longest };
  }

  /** Throws OriginBusy or OriginSuspended while the host, or this subject on it, is not to be asked. */
  admit(url: URL, subject: string | undefined): Passage {
    return this.#hostOf(url).admit(subject);
  }

  /** True while the host, or this subject on it, is not asked, or by one probe at a time only. */
  isSuspended(url: URL, subject?: string): boolean {
    return this.#hosts.get(hostAndPort(url))?.isSuspended(subject) ?? false;
  }

  /** Milliseconds for which every answer of the host was a failure; undefined while all is well. */
  failingFor(url: URL): number | undefined {
    return this.#hosts.get(hostAndPort(url))?.failingFor;
  }

  /** How many hosts are suspended. */
  get suspended(): number {
    return [...this.#hosts.values()].filter((host) => host.isSuspended())
      .length;
  }

  #hostOf(url: URL): HostHealth {
    const name = hostAndPort(url);
    const known = this.#hosts.get(name);
    if (known !== undefined) return known;
    const oldest = this.#hosts.keys().next().value;
    if (this.#hosts.size >= mostHosts && oldest !== undefined)
      this.#hosts.delete(oldest);
    const host = new HostHealth(name, this.#times, this.#now, this.#events);
    this.#hosts.set(name, host);
    return host;
  }
}
