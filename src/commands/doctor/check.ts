import { inTime } from "../../concurrency/in-time.ts";
import type { ProvenderError } from "../../errors/index.ts";

/**
 * Result of one check: a sentence on what was found, and a remedy where it is
 * wrong.
 */
export interface Check {
  /** Such as "disk"; what is wrong has the same name at each time. */
  readonly check: string;
  readonly state: "ok" | "warn" | "fail";
  readonly found: string;
  readonly remedy: string | null;
}

/** Checks that belong together; nothing of them waits after the signal. */
export type Examination = (signal: AbortSignal) => Promise<readonly Check[]>;

export function good(check: string, found: string): Check {
  return { check, state: "ok", found, remedy: null };
}

export function fail(check: string, found: string, remedy: string): Check {
  return { check, state: "fail", found, remedy };
}

export function warn(check: string, found: string, remedy: string): Check {
  return { check, state: "warn", found, remedy };
}

/** Fails a check by an error and its remedy. */
export function failBy(check: string, error: ProvenderError): Check {
  const { sentence, remedy: text = "look at what is named there" } = error;
  const remedy = `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
  return fail(check, `${sentence}.`, remedy);
}

/** Milliseconds for all checks of a kind together. */
const patience = 10_000;
/** Within which what is under way ends by itself. */
const deadline = 9_000;

/** Each kind in its own time; their checks in the order of the kinds. */
export async function examineAll(
  kinds: Readonly<Record<string, Examination>>,
): Promise<readonly Check[]> {
  const found = await Promise.all(
    Object.entries(kinds).map(([name, examine]) =>
      inTime(examine(AbortSignal.timeout(deadline)), patience, () => [
        fail(
          name,
          `Looking took longer than ${patience / 1000} s.`,
          "Look at the machine, its disk and its network, and try again.",
        ),
      ]),
    ),
  );
  return found.flat();
}
