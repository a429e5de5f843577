import { describe, expect, it } from "vitest";
import type { RecordKey } from "../../../src/store/records/record-store.ts";
import { makeLayout, openRecords } from "../stores.ts";

const key: RecordKey = [
  ...(["releases", "a.example:8443", "acme", "thing"] as const),
  "1.0.0-rc.1+b",
];
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
      const at = ["namespaces", "a.example", `round${round}`] as const;
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
  it("is absent when nothing was written under its key or in its table", async () => {
    const stores = await make();
    await stores.open().swap(key, 0, body);
    const store = stores.open();
    const [, hostname, namespace, type] = key as readonly [string, ...string[]];
    const other = [hostname, namespace, type].map(String);
    expect(
      await store.read(["first_contacts", ...other], asItIs),
    ).toBeUndefined();
    expect(
      await store.read(["releases", ...other, "1.0.0"], asItIs),
    ).toBeUndefined();
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
  const odd = ["", ".", "..", "../x", "a\0b", "a b", ".h", "ä", "-x"];
  it.each([...odd, "a\\b"])("has no part %j", async (part) => {
    const store = (await make()).open();
    const at = ["package_hashes", part] as const;
    for (const act of [
      () => store.read(at, asItIs),
      () => store.swap(at, 0, {}),
      () => store.change(at, asItIs, () => ({})),
      () => store.remove(at),
      () => store.list(at),
    ])
      await expect(act()).rejects.toThrow(RangeError);
  });

  it.each([
    [["releases", "a", "b", "c"]],
    [["package_hashes", "ab", "abc"]],
    [["namespaces", "a"]],
  ] as const)("is whole: %j is none", async (at) => {
    const store = (await make()).open();
    await expect(store.read(at, asItIs)).rejects.toThrow(RangeError);
    await expect(store.swap(at, 0, {})).rejects.toThrow(RangeError);
  });

  it("is listed by its next parts, each once and in order", async () => {
    const store = (await make()).open();
    const keys: readonly RecordKey[] = [
      ["namespaces", "a", "b"],
      ["releases", "a", "B", "x", "1.0.0"],
      ["releases", "a", "b", "x", "1.0.0"],
      ["releases", "a", "b", "x", "2.0.0"],
      ["releases", "a", "b-c", "y", "1.0.0"],
      ["package_hashes", "abc"],
    ];
    for (const at of keys.toReversed()) await store.swap(at, 0, {});
    expect(await store.list(["releases", "a"], 1)).toEqual([
      ...[["B"], ["b"], ["b-c"]],
    ]);
    expect(await store.list(["releases", "a", "b"])).toEqual([
      ...[
        ["x", "1.0.0"],
        ["x", "2.0.0"],
      ],
    ]);
    expect(await store.list(["releases", "c"])).toEqual([]);
    const all = await Array.fromAsync(store.listAll());
    expect(all.map((at) => at.join("/"))).toEqual(
      keys.map((at) => at.join("/")),
    );
  });
});
