import { describe, expect, it } from "vitest";
import type { RecordKey } from "../../../src/store/layout.ts";
import { makeLayout, openRecords } from "../stores.ts";

const key: RecordKey = ["providers", "a.example:8443", "acme", "1.0.0-rc.1+b"];
const body = { text: "line one\nline two \u2028 ü", list: [1, null, "x"] };

/** Takes bodies as they are. */
const asItIs = (read: unknown): unknown => read;

interface Count {
  readonly n: number;
}

const asCount = (read: unknown): Count => read as Count;

const times = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index));

/** An empty store; each that is opened is as another process has it. */
async function make() {
  const layout = await makeLayout();
  return { open: () => openRecords(layout) };
}

describe("swap", () => {
  const revisionOf = (_body: unknown, revision: number) => revision;

  it("writes what others then read, where nothing or the revision it names is", async () => {
    const stores = await make();
    const other = { text: "other" };
    const first = (await stores.open().swap(key, 0, body)) ?? 0;
    expect(await stores.open().swap(key, 0, other)).toBeUndefined();
    expect(await stores.open().read(key, asItIs)).toEqual(body);
    expect(await stores.open().read(key, revisionOf)).toBe(first);
    const second = await stores.open().swap(key, first, other);
    expect(await stores.open().swap(key, first, body)).toBeUndefined();
    expect(await stores.open().read(key, asItIs)).toEqual(other);
    expect(await stores.open().read(key, revisionOf)).toBe(second);
    expect(second).not.toBe(first);
  });

  it("has exactly one first of many at once", async () => {
    const stores = await make();
    for (let round = 0; round < 3; round++) {
      const at = ["providers", `round${round}`];
      const all = await Promise.all(
        times(4, (n) => stores.open().swap(at, 0, { n })),
      );
      const firsts = times(4, (n) => n).filter((n) => all[n] !== undefined);
      expect(firsts).toHaveLength(1);
      expect(await stores.open().read(at, asItIs)).toEqual({ n: firsts[0] });
    }
  });

  it("takes what was removed and made again for another one", async () => {
    const stores = await make();
    const other = { text: "other" };
    const before = (await stores.open().swap(key, 0, body)) ?? 0;
    await stores.open().remove(key);
    expect(await stores.open().swap(key, before, body)).toBeUndefined();
    expect(await stores.open().swap(key, 0, other)).not.toBe(before);
    expect(await stores.open().swap(key, before, body)).toBeUndefined();
  });
});

describe("change", () => {
  it("reports content and absence", async () => {
    const store = (await make()).open();
    const seen: unknown[] = [];
    for (const next of [body, { text: "other" }])
      await store.change(key, asItIs, (before) => {
        seen.push(before);
        return next;
      });
    expect([seen.at(0), seen.at(-1)]).toEqual([undefined, body]);
    expect(await store.read(key, asItIs)).toEqual({ text: "other" });
  });

  it("leaves what is returned as it was", async () => {
    const store = (await make()).open();
    await store.swap(key, 0, body);
    await store.change(key, asItIs, (before) => before);
    expect(await store.read(key, asItIs)).toEqual(body);
  });

  it("loses none of many at once", async () => {
    const stores = await make();
    const all = times(4, () => stores.open());
    await Promise.all(
      times(16, async (n) =>
        all[n % 4]?.change(key, asCount, (before) => ({
          n: (before?.n ?? 0) + 1,
        })),
      ),
    );
    expect(await stores.open().read(key, asItIs)).toEqual({ n: 16 });
  });

  it("changes nothing when it throws", async () => {
    const store = (await make()).open();
    await store.swap(key, 0, body);
    const failing = store.change(key, asItIs, () => {
      throw new Error("no");
    });
    await expect(failing).rejects.toThrow("no");
    await store.change(key, asItIs, (before) => ({ before }));
    expect(await store.read(key, asItIs)).toEqual({ before: body });
  });
});

describe("a record", () => {
  it("is absent when nothing was written, or others are below its key", async () => {
    const stores = await make();
    await stores.open().swap(key, 0, body);
    const store = stores.open();
    expect(await store.read(["providers", "b"], asItIs)).toBeUndefined();
    expect(await store.read(key.slice(0, 2), asItIs)).toBeUndefined();
  });

  it("is unknown, and not absent, when it has another form than was asked for", async () => {
    const store = (await make()).open();
    await store.swap(key, 0, body);
    const refuse = () => {
      throw new Error("another form");
    };
    const refused = { code: "record-unreadable" };
    await expect(store.read(key, refuse)).rejects.toMatchObject(refused);
    await expect(store.change(key, refuse, () => ({}))).rejects.toMatchObject(
      refused,
    );
    expect(await store.read(key, asItIs)).toEqual(body);
  });

  it("is gone after its removal, which may be done twice", async () => {
    const store = (await make()).open();
    await store.swap(key, 0, body);
    await store.remove(key);
    await store.remove(key);
    expect(await store.read(key, asItIs)).toBeUndefined();
  });
});

describe("a record key", () => {
  const odd = ["", ".", "..", "../x", "a/b", "a\0b", "a b", ".h", "ä", "-x"];
  it.each([...odd, "a\\b"])("has no part %j", async (part) => {
    const store = (await make()).open();
    const at = ["providers", part];
    for (const act of [
      () => store.read(at, asItIs),
      () => store.swap(at, 0, {}),
      () => store.change(at, asItIs, () => ({})),
      () => store.remove(at),
      () => store.list([part]),
    ])
      await expect(act()).rejects.toThrow(RangeError);
  });

  it("is listed by its last part below a prefix, and by its folders above", async () => {
    const store = (await make()).open();
    const keys = [
      ["providers", "b", "one"],
      ["providers", "b", "two.three"],
      ["providers", "b", "deeper", "four"],
      ["package-hashes", "ab", "abc"],
    ];
    for (const at of keys) await store.swap(at, 0, {});
    const listed = await store.list(["providers", "b"]);
    expect(listed.toSorted()).toEqual(["one", "two.three"]);
    expect(await store.list(["providers", "c"])).toEqual([]);
    expect(await store.folders(["providers"])).toEqual(["b"]);
    const all: string[] = [];
    for await (const at of store.listAll()) all.push(at.join("/"));
    const names = keys.map((at) => at.join("/"));
    expect(all.toSorted()).toEqual(names.toSorted());
  });
});
