import { formatTime } from "../output/figures.ts";
import { fail, good, type Check } from "./check.ts";

/** What another host said of the time, and when. */
export interface ToldTime {
  readonly host: string;
  /** The Date header of its answer. */
  readonly date: string | undefined;
  /** When it came, by this machine's clock. */
  readonly at: Date;
}

/** Milliseconds by which clocks may differ: tokens and certificates are judged by them. */
const tolerance = 5 * 60_000;

/** This machine's clock by the one that is nearest to it: a single host may be wrong. Nothing where nobody said. */
export function examineClock(told: readonly ToldTime[]): readonly Check[] {
  const [nearest] = told
    .map(({ host, date, at }) => ({
      host,
      ahead: at.getTime() - Date.parse(date ?? ""),
    }))
    .filter(({ ahead }) => !Number.isNaN(ahead))
    .toSorted((a, b) => Math.abs(a.ahead) - Math.abs(b.ahead));
  if (nearest === undefined) return [];
  const { host, ahead } = nearest;
  const side = ahead > 0 ? "ahead of" : "behind";
  const difference = formatTime(Math.abs(ahead) / 1000);
  return [
    Math.abs(ahead) > tolerance
      ? fail(
          "clock",
          `This machine's clock is ${difference} ${side} that of ${host}.`,
          "Set the clock of the one that is wrong, for example with NTP: certificates, signatures and tokens are judged by it.",
        )
      : good("clock", `This machine's clock agrees with that of ${host}.`),
  ];
}
