import { expect, it } from "vitest";
import type {
  RecordStore,
  RecordKey,
} from "../../../src/store/records/record-store.ts";

const key: RecordKey = [
  ...(["releases", "a.example:8443", "acme", "thing"] as const),
  "1.0.0-rc.1+b",
];
const body = { text: "line one\nline two \u2028 ü", list: [1, null, "x"] };
const other = { text: "other" };

const asItIs = (read: unknown): unknown => read;
const revisionOf = (_body: unknown, revision: number) => revision;
const asCount = (read: unknown) => read as { readonly n: number };

/** What records are in every database: `make` has one of its own, and whoever opens it is another process. */
export function testRecords(
  make: () => Promise<() => Promise<RecordStore>>,
): void {
  it("are written where nothing or the named revision is, for all who read them", async () => {
    const open = await make();
    const [one, another] = [await open(), await open()];
    const first = (await one.swap(key, 0, body)) ?? 0;
    expect(await another.swap(key, 0, other)).toBeUndefined();
    expect(await another.read(key, asItIs)).toEqual(body);
    expect(await another.read(key, revisionOf)).toBe(first);
    const second = await another.swap(key, first, other);
    expect(await one.swap(key, first, body)).toBeUndefined();
    expect(await one.read(key, asItIs)).toEqual(other);
    expect(await one.read(key, revisionOf)).toBe(second);
    expect(second).not.toBe(first);
    for (const records of [one, another]) await records.remove(key);
    expect(await one.read(key, asItIs)).toBeUndefined();
    // What was removed and made again is another one.
    expect(await one.swap(key, first, body)).toBeUndefined();
    expect(await one.swap(key, 0, other)).not.toBe(first);
    expect(await one.swap(key, first, body)).toBeUndefined();
  });

  it("have one first of many processes, and lose no change of theirs", async () => {
    const open = await make();
    const all = [await open(), await open(), await open()] as const;
    for (let round = 0; round < 5; round++) {
      const at = ["namespaces", "a.example", `round${round}`] as const;
      const asked = all.map((records, n) => records.swap(at, 0, { n }));
      const found = await Promise.all(asked);
      const firsts = [0, 1, 2].filter((n) => found[n] !== undefined);
      expect(firsts).toHaveLength(1);
      expect(await all[0].read(at, asItIs)).toEqual({ n: firsts[0] });
    }
    // One after the other in each: a crowd would wait for longer than a transaction may.
    const count = async (records: RecordStore) => {
      for (let n = 0; n < 20; n++)
        await records.change(key, asCount, (before) => ({
          n: (before?.n ?? 0) + 1,
        }));
    };
    await Promise.all(all.map(count));
    expect(await all[0].read(key, asItIs)).toEqual({ n: 60 });
  });

  it("are changed from what they are, and left alone by what returns the same or throws", async () => {
    const records = await (await make())();
    const seen: unknown[] = [];
    const change = (after: (before: unknown) => unknown) =>
      records.change(key, asItIs, (before) => {
        seen.push(before);
        return after(before);
      });
    await change(() => body);
    const revision = await records.read(key, revisionOf);
    await change((before) => before);
    const failing = change(() => {
      throw new Error("no");
    });
    await expect(failing).rejects.toThrow("no");
    expect(await records.read(key, revisionOf)).toBe(revision);
    await change(() => other);
    expect(await records.read(key, asItIs)).toEqual(other);
    expect(seen).toEqual([undefined, body, body, body]);
  });

  it("are absent where nothing was written", async () => {
    const records = await (await make())();
    await records.swap(key, 0, body);
    const near = ["a.example:8443", "acme", "thing"] as const;
    const absent = [["first_contacts", ...near] as const];
    for (const at of [...absent, ["releases", ...near, "1.0.0"] as const])
      expect(await records.read(at, asItIs)).toBeUndefined();
  });

  it("are listed by the next parts of their keys, each once and in order", async () => {
    const records = await (await make())();
    const keys: readonly RecordKey[] = [
      ["namespaces", "a", "b"],
      ["releases", "a", "B", "x", "1.0.0"],
      ["releases", "a", "b", "x", "1.0.0"],
      ["releases", "a", "b", "x", "2.0.0"],
      ["releases", "a", "b-c", "y", "1.0.0"],
      ["package_hashes", "abc"],
    ];
    for (const at of keys.toReversed()) await records.swap(at, 0, {});
    const next = await records.list(["releases", "a"], 1);
    expect(next.flat()).toEqual(["B", "b", "b-c"]);
    const below = await records.list(["releases", "a", "b"]);
    expect(below.map((parts) => parts.join())).toEqual(["x,1.0.0", "x,2.0.0"]);
    expect(await records.list(["releases", "c"])).toEqual([]);
    expect(await Array.fromAsync(records.listAll())).toEqual(keys);
  });
}
