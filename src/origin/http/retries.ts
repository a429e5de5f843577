import { setTimeout as delay } from "node:timers/promises";
import { isCut, isFailure } from "../../errors/index.ts";

/** Attempts at one request, the first one included. */
const tries = 3;
/** Milliseconds before the second try at most; twice that before the third. */
const longestDelay = 200;

interface RetryRules {
  /** True when a try would be refused anyway, so that no time is spent on it. */
  readonly isSuspended: () => boolean;
  readonly onRetry: () => void;
}

/**
 * Tries up to three times what only reads, while failures are of a kind that
 * can pass and `signal` leaves time; throws the last failure that the origin
 * itself had.
 */
export async function withRetries<T>(
  attempt: () => Promise<T>,
  signal: AbortSignal,
  { isSuspended, onRetry }: RetryRules,
): Promise<T> {
  let failure: unknown;
  for (let tried = 1; ; tried++) {
    try {
      return await attempt();
    } catch (error) {
      // The failure before a suspension explains more than the suspension.
      const isOurs = isFailure(error, "origin-suspended");
      failure = isOurs && tried > 1 ? failure : error;
    }
    if (tried === tries || !canPass(failure) || isSuspended()) throw failure;
    if (!(await waitBefore(tried, signal))) throw failure;
    onRetry();
  }
}

/** Half of the time is fixed and half is chance, so that many mirrors do not come back together. */
async function waitBefore(
  retry: number,
  signal: AbortSignal,
): Promise<boolean> {
  const longest = longestDelay * retry;
  const ms = longest * (0.5 + Math.random() / 2);
  await delay(ms, undefined, { signal }).catch(() => undefined);
  return !signal.aborted;
}

/**
 * True for a failure that may pass: a broken connection, or a status that means
 * "not now".
 */
function canPass(error: unknown): boolean {
  if (isFailure(error, "origin-status"))
    return passingStatuses.has(error.status);
  return (
    isFailure(error, "origin-unreachable", "origin-timeout") || isCut(error)
  );
}

const passingStatuses: ReadonlySet<number> = new Set([408, 500, 502, 503, 504]);
