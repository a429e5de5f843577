import { LRUCache } from "lru-cache";
import { failure, type Failure, isFailure } from "../../errors/index.ts";
import { hostAndPort } from "../guard/address-guard.ts";

/** Hosts in memory: their names come from answers, so the least recently used is forgotten. */
const mostHosts = 1_000;

/** Requests in a row that fail before their host is suspended. */
const failuresToSuspend = 5;

/** Events for observers; never waited for. */
interface HealthEvents {
  /** The host, `host:port`, is not asked for so long. */
  readonly onSuspended?: (suspension: {
    readonly host: string;
    readonly milliseconds: number;
    readonly reason: string;
  }) => void;
  readonly onResumed?: (host: string) => void;
}

interface Host {
  readonly name: string;
  /** Requests in a row that failed. */
  failures: number;
  pause: Pause | undefined;
}

interface Pause {
  readonly until: number;
  /** Milliseconds when nobody asked for a time; doubled for the next one in a row. */
  readonly step: number;
  readonly because: Failure<"origin-busy"> | string;
  isProbed: boolean;
}

/**
 * Health of hosts, shared by all origins: many lead to the same hosts. A host is suspended after five requests in a
 * row without connection, without answer in time or with 5xx, and when it asks for a pause (429, or 503 with
 * Retry-After). Once its time is over one request at a time probes, and the first answer ends the suspension.
 */
export class OriginHealth {
  readonly #hosts = new LRUCache<string, Host>({ max: mostHosts });
  readonly #now: () => number;
  readonly #events: HealthEvents;
  readonly #longest: number;

  /** `now` is monotonic, in milliseconds. Probes are at most `longest` apart, except for pauses that a host asks for. */
  constructor(
    now = () => performance.now(),
    events: HealthEvents = {},
    longest = 30_000,
  ) {
    this.#now = now;
    this.#events = events;
    this.#longest = longest;
  }

  /**
   * Throws origin-busy or origin-suspended. A request that may be sent is settled or abandoned once, when its answer has
   * begun or never will.
   */
  admit(url: URL) {
    const name = hostAndPort(url);
    const unknown: Host = { name, failures: 0, pause: undefined };
    const host = this.#hosts.get(name) ?? unknown;
    this.#hosts.set(name, host);
    const probed = host.pause;
    if (probed !== undefined) {
      const { until, isProbed, because } = probed;
      const left = Math.max(isProbed ? 1_000 : 0, until - this.#now());
      const seconds = Math.ceil(left / 1000);
      const shown = `https://${name}/`;
      if (seconds > 0)
        throw isFailure(because, "origin-busy")
          ? failure("origin-busy", shown, seconds)
          : failure("origin-suspended", shown, seconds, because);
      probed.isProbed = true;
    }
    return {
      /** Nobody waits for it any longer, which proves nothing about the host. */
      abandon: () => {
        if (probed !== undefined) probed.isProbed = false;
      },
      /** `failure` is undefined for an answer; with `isRepeated` an earlier try of the request counted already. */
      settle: (failure: unknown, isRepeated = false) => {
        if (probed !== undefined) probed.isProbed = false;
        if (isFailure(failure, "origin-busy"))
          this.#suspend(host, failure, failure.retryAfterSeconds);
        // Whether a suspended host is well again only its probe tells: others were sent before.
        else if (host.pause !== probed) return;
        else if (failure !== undefined) {
          if (!isRepeated || probed !== undefined) this.#fail(host, failure);
        } else {
          host.failures = 0;
          host.pause = undefined;
          if (probed !== undefined) this.#events.onResumed?.(host.name);
        }
      },
    };
  }

  /** True while the host is not asked, or by one probe at a time only. */
  isSuspended(url: URL): boolean {
    return this.#hosts.peek(hostAndPort(url))?.pause !== undefined;
  }

  /** Number of suspended hosts. */
  get suspended(): number {
    return [...this.#hosts.values()].filter(({ pause }) => pause).length;
  }

  #fail(host: Host, failure: unknown): void {
    const isStatus = isFailure(failure, "origin-status");
    const isLost = isFailure(failure, "origin-unreachable", "origin-timeout");
    if (!isLost && !(isStatus && failure.status >= 500)) return;
    host.failures++;
    if (host.pause === undefined && host.failures < failuresToSuspend) return;
    this.#suspend(host, isStatus ? `status ${failure.status}` : failure.code);
  }

  /** For the time that the host asked for, and not less than it asked before. */
  #suspend(host: Host, because: Pause["because"], seconds?: number): void {
    const { pause } = host;
    const now = this.#now();
    const step = Math.min(this.#longest, pause ? 2 * pause.step : 1_000);
    const asked = seconds === undefined ? step : seconds * 1000;
    const milliseconds = Math.max(asked, (pause?.until ?? now) - now);
    const until = now + milliseconds;
    host.pause = { until, step, because, isProbed: false };
    const reason = typeof because === "string" ? because : because.code;
    this.#events.onSuspended?.({ host: host.name, milliseconds, reason });
  }
}
