import { describe, expect, test } from "vitest";
import { parseVersion } from "../../../src/address/version.ts";
import { keepOldEnough } from "../../../src/mirror/listing/version-ages.ts";

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

  test("rejects with the first failure, and stops there", async () => {
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
