import {
  type Suspension,
  OriginHealth,
} from "../../../src/origin/health/origin-health.ts";

export const host = "https://a.example/";
export const url = new URL("/v1/providers/acme/widget/versions", host);

/** Makes the health of hosts with a clock that stands still, and notes what it tells. */
export function prepareHealth(longest?: number) {
  const time = { now: 1_000 };
  const suspended: Suspension[] = [];
  const resumed: (string | undefined)[] = [];
  const health = new OriginHealth(
    () => time.now,
    {
      onSuspended: (suspension) => suspended.push(suspension),
      onResumed: (name, subject) => resumed.push(subject ?? name),
    },
    longest,
  );
  const ask = (outcome: unknown, subject?: string, at = url) =>
    health.admit(at, subject).settle(outcome);
  return { time, health, ask, suspended, resumed };
}
