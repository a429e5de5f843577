import { LRUCache } from "lru-cache";
import { hostAndPort } from "../guard/address-guard.ts";
import { HostHealth, type HealthEvents, type Passage } from "./host-health.ts";

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
