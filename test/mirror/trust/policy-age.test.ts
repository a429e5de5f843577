import { describe, expect, test } from "vitest";
import { parseVersion } from "../../../src/address/version.ts";
import {
  decideByAge,
  keepOldEnough,
} from "../../../src/mirror/trust/policy-age.ts";

const week = 7 * 86_400_000;
const now = new Date("2026-11-21T10:00:00Z");

function ago(milliseconds: number): Date {
  return new Date(now.getTime() - milliseconds);
}

describe("the age of a version", () => {
  const ask = (signedAt?: Date, seenAt?: Date, minimumAge = week) =>
    decideByAge({ minimumAge, isUnlisted: false, signedAt, seenAt, now });

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

  test("is never enough for a version that no list ever showed, whatever its signature says", () => {
    const question = { isUnlisted: true, signedAt: ago(9 * week), now };
    for (const seenAt of [undefined, ago(9 * week)])
      expect(decideByAge({ ...question, minimumAge: 1, seenAt })).toEqual({
        old: false,
        availableAt: undefined,
      });
    expect(
      decideByAge({ ...question, minimumAge: 0, seenAt: undefined }),
    ).toEqual({ old: true });
  });

  test("is never enough with a date that is none or too far away", () => {
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

describe("keeping the versions that are old enough", () => {
  const versions = (text: string) =>
    text.split(" ").filter(Boolean).map(parseVersion);

  async function keep(listed: string, young: string) {
    const asked: string[] = [];
    const kept = await keepOldEnough(versions(listed), async (version) => {
      asked.push(version);
      await Promise.resolve();
      return !young.split(" ").includes(version);
    });
    return { kept: kept.join(" "), asked: asked.toSorted().join(" ") };
  }

  test("asks once for a release line whose newest version is old enough", async () => {
    const listed = "2.1.1 2.1.0 2.0.5 2.0.4 2.0.0 1.9.0";
    expect(await keep(listed, "")).toEqual({
      kept: listed,
      asked: "1.9.0 2.0.5 2.1.1",
    });
  });

  test("walks each line down to the first old one, and keeps the order", async () => {
    expect(
      await keep("2.1.2 2.1.1 2.1.0 2.0.5 2.0.4", "2.1.2 2.1.1 2.0.5"),
    ).toEqual({
      kept: "2.1.0 2.0.4",
      asked: "2.0.4 2.0.5 2.1.0 2.1.1 2.1.2",
    });
  });

  test("drops a line that has no old version", async () => {
    expect((await keep("2.0.1 2.0.0 1.0.0", "2.0.1 2.0.0")).kept).toBe("1.0.0");
    expect((await keep("2.0.1", "2.0.1")).kept).toBe("");
    expect((await keep("", "")).kept).toBe("");
  });

  test("counts prereleases to their line, and keeps 1.10 apart from 1.1", async () => {
    expect(await keep("1.10.0 1.1.1-rc1 1.1.0 1.1.0-rc1", "1.1.1-rc1")).toEqual(
      {
        kept: "1.10.0 1.1.0 1.1.0-rc1",
        asked: "1.1.0 1.1.1-rc1 1.10.0",
      },
    );
  });

  test("asks in one line after another answer, and in at most eight lines at once", async () => {
    const listed = Array.from(
      { length: 30 },
      (_, minor) => `1.${29 - minor}.1 1.${29 - minor}.0`,
    ).join(" ");
    const busy = new Set<string>();
    let most = 0;
    await keepOldEnough(versions(listed), async (version) => {
      const line = version.slice(0, -2);
      expect(busy.has(line)).toBe(false);
      busy.add(line);
      most = Math.max(most, busy.size);
      await new Promise(setImmediate);
      busy.delete(line);
      return false;
    });
    expect(most).toBe(8);
  });

  test("rejects with the first failure, and asks no more after it", async () => {
    const listed = Array.from(
      { length: 100 },
      (_, minor) => `1.${99 - minor}.1 1.${99 - minor}.0`,
    ).join(" ");
    let asked = 0;
    const failing = keepOldEnough(versions(listed), async () => {
      asked++;
      await Promise.resolve();
      throw new Error("the origin fails");
    });
    await expect(failing).rejects.toThrow("the origin fails");
    const before = asked;
    for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate);
    expect(asked).toBe(before);
    expect(asked).toBeLessThanOrEqual(8);
  });
});
