import { LRUCache } from "lru-cache";
import { failure } from "../../errors/index.ts";
import type { Client } from "../http/client-address.ts";
import type {
  RequestMiddleware,
  RequestNote,
} from "../http/request-context.ts";

/** Requests that a client has left; those of a whole minute may come at once. */
interface Allowance {
  left: number;
  /** Time of the count, in milliseconds on the monotonic clock. */
  at: number;
}

const minute = 60_000;
const unlimited: Allowance = { left: Infinity, at: 0 };
/** Clients remembered, about 200 bytes each; one that is forgotten starts again. */
const mostClients = 10_000;

/**
 * Limits how often each client may ask for metadata that the mirror has to
 * fetch.
 * Cached metadata is free. Archives are never counted, because clients do not
 * ask for them twice.
 */
export class MetadataCaps {
  readonly #perMinute: number;
  readonly #allowances = new LRUCache<string, Allowance>({ max: mostClients });

  /** 0 is no cap. */
  constructor(perMinute: number) {
    this.#perMinute = perMinute;
  }

  /** The client's allowance, for `charge`; throws too-many-requests when nothing is left of it. */
  admit(client: Client, now = performance.now()): Allowance {
    const { address } = client;
    const allowance = this.#allowanceOf(client, now);
    if (allowance.left < 1) {
      const wait = ((1 - allowance.left) * minute) / this.#perMinute;
      throw failure(
        "too-many-requests",
        address,
        this.#perMinute,
        Math.ceil(wait / 1000),
      );
    }
    return allowance;
  }

  #allowanceOf({ counted }: Client, now: number): Allowance {
    if (this.#perMinute === 0 || counted === undefined) return unlimited;
    const known = this.#allowances.get(counted);
    if (known === undefined) {
      const whole = { left: this.#perMinute, at: now };
      this.#allowances.set(counted, whole);
      return whole;
    }
    const earned = ((now - known.at) * this.#perMinute) / minute;
    const left = Math.max(known.left, -this.#perMinute) + earned;
    known.left = Math.min(this.#perMinute, left);
    known.at = now;
    return known;
  }
}

/**
 * Takes a request that was answered, unless the answer was held already. What
 * was asked for at once beyond the allowance is owed, but for a minute at most.
 */
export function charge(
  allowance: Allowance,
  { outcome, originTime }: RequestNote,
): void {
  const held = outcome === "stale" ? originTime === 0 : outcome === "hit";
  if (!held && outcome !== "joined") allowance.left--;
}

/** Documents of the protocols, and what asks like them. */
export function isMetadata(path: string): boolean {
  const isArchive = /\.zip$|\/archive\.[^/]+$/.test(path);
  return /^\/(?:providers|v1|why)\//.test(path) && !isArchive;
}

/** Charges each request for metadata to its client. */
export function limitMetadata(caps: MetadataCaps): RequestMiddleware {
  return async ({ state }, next) => {
    if (!isMetadata(state.path)) {
      await next();
      return;
    }
    const allowance = caps.admit(state.client);
    try {
      await next();
    } finally {
      charge(allowance, state.note);
    }
  };
}
