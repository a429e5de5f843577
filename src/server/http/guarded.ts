/** Hears of what no code foresaw; it must not throw. */
export type OnUnexpected = (error: unknown, where: string) => void;

/**
 * A handler of events that never throws and never rejects: what it throws goes
 * to `onThrown` with the event, since Node ends the process for it. What
 * `onThrown` throws in turn goes nowhere.
 */
export function guarded<Event extends readonly unknown[]>(
  handle: (...event: Event) => unknown,
  onThrown: (error: unknown, ...event: Event) => void,
): (...event: Event) => void {
  const settle = (error: unknown, event: Event) => {
    try {
      onThrown(error, ...event);
    } catch {
      // Nothing more can be done about it.
    }
  };
  return (...event) => {
    try {
      const result = handle(...event);
      if (result instanceof Promise)
        result.catch((error: unknown) => settle(error, event));
    } catch (error) {
      settle(error, event);
    }
  };
}
