import { expect, it } from "vitest";
import { decideByAge } from "../../src/trust/age.ts";

const day = 86_400_000;
const now = new Date("2026-11-21T10:00:00Z");
const week = 7;

/** So many days ago. */
const ago = (days: number) => new Date(now.getTime() - days * day);

/** Days of signature and first sight before now, and what is said: "old", the days to wait, or "never". */
it.each<
  [
    what: string,
    signedAt: Date | undefined,
    seenAt: Date | undefined,
    said: "old" | "never" | number,
    minimumAge?: number,
  ]
>([
  ["enough from the very moment on", ago(week), undefined, "old"],
  ["not enough a moment before", ago(week - 1 / day), undefined, 1 / day],
  ["counted from first sight, if that was later", ago(14), ago(1), 6],
  ["counted from the signature, if that was later", ago(0), ago(14), week],
  ["enough from the later one on", ago(14), ago(week), "old"],
  ["counted from first sight alone", undefined, ago(week), "old"],
  ["not enough from first sight alone", undefined, ago(0), week],
  ["never enough without a date", undefined, undefined, "never"],
  ["never enough with a malformed date", new Date(NaN), undefined, "never"],
  ["never enough with one of two malformed", new Date(NaN), ago(14), "never"],
  ["never enough with a date too far away", new Date(8.64e15), ago(9), "never"],
  ["counted from a date that lies ahead", ago(-week), undefined, 14],
  ["of no matter where no minimum is set", undefined, undefined, "old", 0],
  ["of no matter then ahead of its date", ago(-week), undefined, "old", 0],
])("the age of a version is %s", (_, signedAt, seenAt, said, days = week) => {
  const terms = { minimumAge: days * day, isUnlisted: false, seenAt, now };
  const availableAt =
    typeof said === "number" ? new Date(now.getTime() + said * day) : undefined;
  expect(decideByAge(terms, signedAt)).toEqual(
    said === "old" ? { old: true } : { old: false, availableAt },
  );
});

it("the age of a version that no list ever showed is never enough, with any date of its signature", () => {
  const decide = (minimumAge: number, seenAt?: Date) =>
    decideByAge({ minimumAge, isUnlisted: true, seenAt, now }, ago(63));
  for (const seenAt of [undefined, ago(63)])
    expect(decide(1, seenAt)).toEqual({ old: false, availableAt: undefined });
  expect(decide(0)).toEqual({ old: true });
});
