import {
  copyFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { failing } from "../../scenes/failing.ts";
import { recordPaths, type RecordKey } from "../../../src/store/layout.ts";
import { DiskRecords } from "../../../src/store/records/disk-records.ts";
import { recordDamages } from "../record-damage.ts";
import { makeLayout } from "../stores.ts";
import { asItIs, itIsARecordStore } from "./record-compliance.ts";

itIsARecordStore(async () => {
  const layout = await makeLayout();
  // One process works on a directory, and has its records open once.
  const records = new DiskRecords(layout);
  return { open: () => records };
});

const key: RecordKey = ["trust", "seen", "a.example", "acme"];
const body = { text: "line one\nline two" };

interface Reports {
  readonly damaged: string[];
  readonly unreadable: string[];
  readonly passedOver: string[];
}

async function prepare(at = key) {
  const layout = await makeLayout();
  const reports: Reports = { damaged: [], unreadable: [], passedOver: [] };
  const records = new DiskRecords(layout, {
    onDamaged: (file, problem, healed) =>
      reports.damaged.push(
        `${file}: ${problem}, ${healed ? "healed" : "left"}`,
      ),
    onUnreadable: ({ file }) => reports.unreadable.push(file),
    onPassedOver: (file) => reports.passedOver.push(file),
  });
  await records.create(at, { text: "first" }, asItIs);
  const [first = "", second = ""] = recordPaths(layout, at);
  const older = readFileSync(first, "utf8");
  await records.change(at, asItIs, () => body);
  return { layout, records, reports, first, second, older };
}

const damages: readonly [string, (path: string, other: string) => unknown][] = [
  ...Object.entries(recordDamages),
  [
    "changed in its revision",
    (path) =>
      writeFileSync(
        path,
        readFileSync(path, "utf8").replace(/"revision":\d/, '"revision":9'),
      ),
  ],
];

async function prepareDamage() {
  const scene = await prepare();
  const other: RecordKey = ["trust", "seen", "b.example", "acme"];
  await scene.records.create(other, body, asItIs);
  const [otherPath = ""] = recordPaths(scene.layout, other);
  const apply = (
    damage: (path: string, other: string) => unknown,
    paths: readonly string[],
  ) => paths.map((path) => damage(path, otherPath));
  return { ...scene, apply };
}

describe("one copy of a record", () => {
  it.each(damages)(
    "that is %s is made again from the other one",
    async (_, damage) => {
      for (const which of [0, 1]) {
        const { records, reports, first, second, apply, layout } =
          await prepareDamage();
        const path = [first, second][which] ?? "";
        const text = readFileSync(path, "utf8");
        apply(damage, [path]);
        expect(await records.read(key, asItIs)).toEqual(body);
        expect(reports.damaged).toHaveLength(1);
        const reopened = new DiskRecords(layout);
        expect(await reopened.read(key, asItIs)).toEqual(body);
        expect(readFileSync(path, "utf8")).toBe(text);
        expect(reports.unreadable).toEqual([]);
      }
    },
  );

  it("that is missing is made again", async () => {
    for (const which of [0, 1]) {
      const { records, reports, first, second } = await prepare();
      const path = [first, second][which] ?? "";
      rmSync(path);
      expect(await records.read(key, asItIs)).toEqual(body);
      expect(existsSync(path)).toBe(true);
      expect(reports.damaged).toEqual([expect.stringContaining("missing")]);
    }
  });

  it("that is an older one of itself no longer counts", async () => {
    for (const which of [0, 1]) {
      const { records, first, second, older } = await prepare();
      const path = [first, second][which] ?? "";
      writeFileSync(path, older);
      expect(await records.read(key, asItIs)).toEqual(body);
      expect(readFileSync(first, "utf8")).toBe(readFileSync(second, "utf8"));
    }
  });

  it("that is damaged does not stop a change, which makes both good", async () => {
    const { records, first, second } = await prepare();
    writeFileSync(second, "");
    await records.change(key, asItIs, (before) => ({ before }));
    rmSync(first);
    expect(await records.read(key, asItIs)).toEqual({ before: body });
  });
});

describe("a record without a good copy", () => {
  it.each(damages)(
    "is unknown and stays as it is when both are %s",
    async (_, damage) => {
      const { records, reports, first, second, apply } = await prepareDamage();
      apply(damage, [first, second]);
      await expect(records.read(key, asItIs)).rejects.toThrow(
        failing("record-unreadable"),
      );
      await expect(records.create(key, {}, asItIs)).rejects.toThrow(
        failing("record-unreadable"),
      );
      await expect(records.change(key, asItIs, () => ({}))).rejects.toThrow(
        failing("record-unreadable"),
      );
      expect(reports.unreadable).toEqual(
        Array.from(
          { length: 3 },
          () => "records/v1/trust/seen/a.example/acme.json",
        ),
      );
      expect(await records.inspect(key, { repair: true })).toMatchObject({
        readable: false,
      });
      await expect(records.read(key, asItIs)).rejects.toThrow(
        failing("record-unreadable"),
      );
    },
  );

  it("is unknown when one copy is damaged and the other one missing", async () => {
    const { records, first, second } = await prepare();
    rmSync(first);
    writeFileSync(second, "");
    await expect(records.read(key, asItIs)).rejects.toThrow(
      failing("record-unreadable"),
    );
  });

  it("is unknown when its copies contradict one another", async () => {
    const { records, first, second } = await prepare();
    const elsewhere = await prepare();
    await elsewhere.records.remove(key);
    await elsewhere.records.create(key, {}, asItIs);
    await elsewhere.records.change(key, asItIs, () => ({ text: "forged" }));
    copyFileSync(elsewhere.first, second);
    await expect(records.read(key, asItIs)).rejects.toThrow("contradict");
    expect(existsSync(first)).toBe(true);
  });
});

describe("a record that can be made again", () => {
  const rebuildable: RecordKey = ["package-hashes", "ab", "abc"];
  it.each([damages[0] ?? expect.fail()])(
    "is absent when it is %s, and is made again",
    async (_, damage) => {
      const { records, reports, first } = await prepare(rebuildable);
      const other: RecordKey = ["package-hashes", "ab", "other"];
      await records.create(other, body, asItIs);
      const path = join(dirname(first), "other.json");
      damage(first, path);
      expect(await records.read(rebuildable, asItIs)).toBeUndefined();
      expect(reports.passedOver).toHaveLength(1);
      expect(reports.unreadable).toEqual([]);
      const again = { text: "again" };
      expect(await records.create(rebuildable, again, asItIs)).toEqual(again);
      expect(await records.read(rebuildable, asItIs)).toEqual(again);
    },
  );
});

it("leaves nothing in staging", async () => {
  const { layout, records } = await prepare();
  await Promise.all(
    Array.from({ length: 20 }, (_, n) =>
      records.change(key, asItIs, () => ({ n })),
    ),
  );
  expect(readdirSync(layout.staging)).toEqual([]);
});
