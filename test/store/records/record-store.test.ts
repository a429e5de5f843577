import { describe, expect, it } from "vitest";
import { openDatabase } from "../../../src/store/database/database.ts";
import {
  DatabaseRecords,
  type RecordKey,
} from "../../../src/store/records/record-store.ts";
import { failing } from "../../scenes/failing.ts";
import { damageRecord, makeLayout, openRecords } from "../stores.ts";
import { testRecords } from "./contract.ts";

const key = ["namespaces", "a.example", "acme"] as const;
const hashes = ["package_hashes", "abc"] as const;
const asItIs = (body: unknown) => body;

describe("records in a file", () => {
  testRecords(async () => {
    const layout = await makeLayout();
    return () => Promise.resolve(openRecords(layout));
  });

  it("are unknown, never absent, when they are damaged, and say so", async () => {
    const layout = await makeLayout();
    const told: string[] = [];
    const records = new DatabaseRecords(openDatabase(layout), {
      onUnreadable: ({ message }) => told.push(message),
    });
    await records.swap(key, 0, { n: 1 });
    damageRecord(layout, key);
    for (const act of [
      () => records.read(key, asItIs),
      () => records.change(key, asItIs, () => ({ n: 2 })),
    ])
      await expect(act()).rejects.toThrow(failing("record-unreadable"));
    expect(told).toHaveLength(2);
    expect(told[0]).toContain(key.join("/"));
    expect(told[0]).toContain("restore provender.db from a backup");
  });

  it("are made again when they can be", async () => {
    const layout = await makeLayout();
    const passed: string[] = [];
    const records = new DatabaseRecords(openDatabase(layout), {
      onPassedOver: (record) => passed.push(record),
    });
    await records.swap(hashes, 0, { n: 1 });
    damageRecord(layout, hashes);
    expect(await records.read(hashes, asItIs)).toBeUndefined();
    await records.change(hashes, asItIs, (before) => before ?? { n: 2 });
    expect(await records.read(hashes, asItIs)).toEqual({ n: 2 });
    expect(passed).toContain(hashes.join("/"));
  });

  it("are all listed, however many there are", async () => {
    const records = openRecords(await makeLayout());
    const names = Array.from({ length: 2_500 }, (_, n) => `v${n}`);
    await records.transact(async () => {
      for (const name of names)
        await records.swap(["package_hashes", name], 0, {});
    });
    const listed = await Array.fromAsync(records.listAll());
    expect(listed.map(([, name]) => name).toSorted()).toEqual(names.toSorted());
  });

  const noKeys: readonly RecordKey[] = [
    ...["", ".", "..", "../x", "a\0b", "a b", ".h", "ä", "-x", "a\\b"].map(
      (part) => ["package_hashes", part] as const,
    ),
    ["releases", "a", "b", "c"],
    ["package_hashes", "ab", "abc"],
  ];

  it.each(noKeys.map((at) => ({ at })))("have no key $at", async ({ at }) => {
    const records = openRecords(await makeLayout());
    for (const act of [
      () => records.read(at, asItIs),
      () => records.swap(at, 0, {}),
      () => records.change(at, asItIs, () => ({})),
    ])
      await expect(act()).rejects.toThrow(RangeError);
  });

  it.each(["..", "a b"])("neither list nor remove below %j", async (part) => {
    const records = openRecords(await makeLayout());
    const at = ["package_hashes", part] as const;
    for (const act of [() => records.list(at), () => records.remove(at)])
      await expect(act()).rejects.toThrow(RangeError);
  });
});
