import { describe, expect, it } from "vitest";
import { openDatabase } from "../../../src/store/database/database.ts";
import {
  RecordStore,
  type RecordKey,
} from "../../../src/store/records/record-store.ts";
import { failing } from "../../scenes/failing.ts";
import {
  askDatabase,
  damageRecord,
  makeLayout,
  openRecords,
} from "../stores.ts";
import { testRecords } from "./contract.ts";

const key = ["namespaces", "a.example", "acme"] as const;
const hashes = ["package_hashes", "abc"] as const;
const asItIs = (body: unknown) => body;

describe("records in a file", () => {
  testRecords(async () => {
    const layout = await makeLayout();
    return () => Promise.resolve(openRecords(layout));
  });

  it("are unknown, never absent, when they are damaged or of another form, and say so", async () => {
    const layout = await makeLayout();
    const told: string[] = [];
    const records = new RecordStore(openDatabase(layout), {
      onUnreadable: ({ message }) => told.push(message),
    });
    await records.swap(key, 0, { n: 1 });
    const refuse = () => expect.fail("another form");
    const acts = [
      () => records.read(key, refuse),
      () => records.change(key, refuse, () => ({ n: 2 })),
    ];
    for (const act of acts)
      await expect(act()).rejects.toThrow(failing("record-unreadable"));
    expect(await records.read(key, asItIs)).toEqual({ n: 1 });
    damageRecord(layout, key);
    for (const act of acts)
      await expect(act()).rejects.toThrow(failing("record-unreadable"));
    expect(told).toHaveLength(4);
    expect(told[0]).toContain(key.join("/"));
    expect(told[0]).toContain("restore provender.db from a backup");
  });

  it("that other processes changed are told by name from the opening on, and may be any where it is not known", async () => {
    const layout = await makeLayout();
    const other = openRecords(layout);
    await other.swap(hashes, 0, {});
    const records = openRecords(layout);
    const heard: unknown[] = [];
    records.listen((changed) => heard.push(changed));
    await other.swap(key, 0, {});
    await records.look();
    await records.look();
    expect(heard).toEqual([new Set([key.join("/")])]);
    await other.remove(hashes);
    askDatabase(layout, "DELETE FROM changes");
    await records.look();
    expect(heard.slice(1)).toEqual([undefined]);
  });

  it("are made again when they can be", async () => {
    const layout = await makeLayout();
    const passed: string[] = [];
    const records = new RecordStore(openDatabase(layout), {
      onPassedOver: (record) => passed.push(record),
    });
    await records.swap(hashes, 0, { n: 1 });
    damageRecord(layout, hashes);
    expect(await records.read(hashes, asItIs)).toBeUndefined();
    await records.change(hashes, asItIs, (before) => before ?? { n: 2 });
    expect(await records.read(hashes, asItIs)).toEqual({ n: 2 });
    expect(passed).toContain(hashes.join("/"));
  });

  it("have no key of another length, or with a part that names nothing", async () => {
    const records = openRecords(await makeLayout());
    const read = (at: RecordKey) => records.read(at, asItIs);
    const swap = (at: RecordKey) => records.swap(at, 0, {});
    const change = (at: RecordKey) => records.change(at, asItIs, () => ({}));
    const list = (at: RecordKey) => records.list(at);
    const remove = (at: RecordKey) => records.remove(at);
    const parts = ["", ".", "../x", "a\0b", "a b", ".h", "ä", "-x", "a\\b"];
    for (const part of parts)
      for (const act of [read, swap, change, list, remove])
        await expect(act(["package_hashes", part])).rejects.toThrow(RangeError);
    for (const act of [read, swap, change]) {
      const short = act(["releases", "a", "b", "c"]);
      await expect(short).rejects.toThrow(RangeError);
      const long = act(["package_hashes", "ab", "abc"]);
      await expect(long).rejects.toThrow(RangeError);
    }
  });
});
