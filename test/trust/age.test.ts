import { describe, expect, test } from "vitest";
import { decideByAge } from "../../src/trust/age.ts";

const week = 7 * 86_400_000;
const now = new Date("2026-11-21T10:00:00Z");

function ago(milliseconds: number): Date {
  return new Date(now.getTime() - milliseconds);
}

describe("the age of a version", () => {
  const ask = (signedAt?: Date, seenAt?: Date, minimumAge = week) =>
    decideByAge({ minimumAge, isUnlisted: false, seenAt, now }, signedAt);

  test("is enough from the very moment on", () => {
    expect(ask(ago(week))).toEqual({ old: true });
    expect(ask(ago(week - 1))).toEqual({
      old: false,
      availableAt: new Date(now.getTime() + 1),
    });
  });

  test("counts from the later of signature and first sight", () => {
    expect(ask(ago(2 * week), ago(week / 7))).toEqual({
      old: false,
      availableAt: new Date(now.getTime() + (week * 6) / 7),
    });
    expect(ask(ago(0), ago(2 * week))).toEqual({
      old: false,
      availableAt: new Date(now.getTime() + week),
    });
    expect(ask(ago(2 * week), ago(week))).toEqual({ old: true });
  });

  test("counts from the only date there is", () => {
    expect(ask(undefined, ago(week))).toEqual({ old: true });
    expect(ask(undefined, ago(0)).old).toBe(false);
  });

  test("is never enough without a date", () => {
    expect(ask()).toEqual({ old: false, availableAt: undefined });
  });

  test("is never enough for a version that no list ever showed, with any date of its signature", () => {
    const decide = (minimumAge: number, seenAt?: Date) =>
      decideByAge({ minimumAge, isUnlisted: true, seenAt, now }, ago(9 * week));
    for (const seenAt of [undefined, ago(9 * week)])
      expect(decide(1, seenAt)).toEqual({ old: false, availableAt: undefined });
    expect(decide(0)).toEqual({ old: true });
  });

  test("is never enough with a date that is malformed or too far away", () => {
    const unknown = { old: false, availableAt: undefined };
    expect(ask(new Date(NaN))).toEqual(unknown);
    expect(ask(new Date(NaN), ago(2 * week))).toEqual(unknown);
    expect(ask(new Date(8.64e15))).toEqual(unknown);
  });

  test("waits for a date that lies ahead, and then for the minimum age", () => {
    expect(ask(ago(-week))).toEqual({
      old: false,
      availableAt: new Date(now.getTime() + 2 * week),
    });
  });

  test("does not matter when no minimum is set", () => {
    expect(ask(undefined, undefined, 0)).toEqual({ old: true });
    expect(ask(ago(-week), undefined, 0)).toEqual({ old: true });
  });
});
