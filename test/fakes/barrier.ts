import { arrivals } from "./arrivals.ts";
import type { Fault } from "./faults.ts";
import type { Wait } from "./reply.ts";

/** Holds answers at a known place until the test lets them go. */
export interface Barrier {
  /** Resolves when the first answer waits here. */
  readonly reached: Promise<void>;
  /** Resolves when `count` answers in all have come here. */
  arrived(count: number): Promise<void>;
  /** Lets everyone go, those who wait and those who come. */
  release(): void;
  /** Waits before the headers are sent. */
  readonly beforeHeaders: Fault;
  /** Waits when `bytes` of the body are sent; 0 is after the headers. */
  afterBytes(bytes: number): Fault;
}

export function barrier(): Barrier {
  const seen = arrivals();
  const gate = Promise.withResolvers<undefined>();
  const until = () => {
    seen.arrive();
    return gate.promise;
  };
  const waitingAt =
    (at: Wait["at"]): Fault =>
    (reply) => ({ ...reply, waits: [...reply.waits, { at, until }] });
  return {
    reached: seen.reach(1),
    arrived: (count) => seen.reach(count),
    release: () => gate.resolve(undefined),
    beforeHeaders: waitingAt("headers"),
    afterBytes: waitingAt,
  };
}
