import { describe, expect, it } from "vitest";
import { failure } from "../../../src/errors/index.ts";
import { failing } from "../../scenes/failing.ts";
import { systemClock } from "../../../src/mirror/cache/clock.ts";
import {
  mergeVersions,
  type VersionList,
  isAlarming,
  refreshVersions,
} from "../../../src/mirror/versions/version-list.ts";
import { answerOf, later, now } from "../releases/listed-versions.ts";

it.each([
  [1, 10, false],
  [1, 9, true],
  [5, 50, false],
  [5, 49, true],
  [6, 1_000, true],
  [1, 1, true],
])("%i vanished of %i that were listed: an alarm is %s", (gone, of, alarm) => {
  expect(isAlarming(gone, of)).toBe(alarm);
});

describe("a list that is asked for again", () => {
  const names = Array.from({ length: 11 }, (_, minor) => `1.${minor}.0`);
  const first = mergeVersions("acme/x", undefined, answerOf(...names), now);
  /** Ten of them were withdrawn earlier. */
  const last = mergeVersions("acme/x", first, answerOf("1.0.0"), later);
  const gone = () => Promise.reject(failure("not-found", "acme/x"));
  const vanished: string[][] = [];
  const ask = (
    known: VersionList | undefined,
    asked: Promise<ReturnType<typeof answerOf>>,
    freshFor?: number,
  ) => {
    vanished.length = 0;
    const origin = { clock: systemClock, freshFor };
    return refreshVersions("acme/x", known, asked, origin, (versions) =>
      vanished.push([...versions]),
    );
  };

  it("tells of versions that vanished by how many were listed until then", async () => {
    await ask(last, Promise.resolve(answerOf()));
    expect(vanished).toEqual([["1.0.0"]]);
    await ask(first, Promise.resolve(answerOf(...names.slice(1))));
    expect(vanished).toEqual([]);
  });

  it("is empty when what was known is gone, and absent when nothing was", async () => {
    const { versions } = await ask(first, gone());
    expect([...versions.values()].some(({ listed }) => listed)).toBe(false);
    expect(vanished).toEqual([names]);
    await expect(ask(undefined, gone())).rejects.toThrow(failing("not-found"));
    const late = () =>
      Promise.reject(failure("origin-timeout", "https://a/", "late"));
    await expect(ask(first, late())).rejects.toThrow(failing("origin-timeout"));
  });

  it("is the very same one when a folder lists the same", async () => {
    const same = () => Promise.resolve(answerOf("1.0.0"));
    expect(await ask(last, same(), 1_000)).toBe(last);
    expect(await ask(last, same())).not.toBe(last);
  });
});
