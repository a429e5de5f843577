import {
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from "node:fs";
import { dirname } from "node:path";
import { describe, expect, it } from "vitest";
import { recordPath, type RecordKey } from "../../../src/store/layout.ts";
import { RecordStore } from "../../../src/store/records/record-store.ts";
import { makeLayout } from "../stores.ts";

const key: RecordKey = ["providers", "a.example:8443", "acme", "1.0.0-rc.1+b"];
const body = { text: "line one\nline two \u2028 ü", list: [1, null, "x"] };

async function prepare() {
  const layout = await makeLayout();
  const broken: string[] = [];
  const records = new RecordStore(layout, (at) => broken.push(at.join("/")));
  await records.write(key, body);
  const path = recordPath(layout, key);
  const text = readFileSync(path, "utf8");
  const change = (to: string) => writeFileSync(path, to);
  return { layout, records, broken, path, text, change };
}

describe("a record", () => {
  it("reads as it was written, from any store of the directory", async () => {
    const { layout, records, broken } = await prepare();
    expect(await records.read(key)).toEqual(body);
    const reopened = new RecordStore(layout, () => undefined);
    expect(await reopened.read(key)).toEqual(body);
    expect(broken).toEqual([]);
  });

  it("is absent when nothing was written, or a folder of other records is there", async () => {
    const { records, broken } = await prepare();
    expect(await records.read(["providers", "b.example"])).toBeUndefined();
    expect(await records.read(key.slice(0, 2))).toBeUndefined();
    expect(broken).toEqual([]);
  });

  it("is replaced whole, and leaves nothing in staging", async () => {
    const { layout, records } = await prepare();
    const bodies = Array.from({ length: 30 }, (_, index) => ({
      index,
      padding: "x".repeat(index * 1000),
    }));
    const writing = Promise.all(bodies.map((next) => records.write(key, next)));
    const seen = await Promise.all(
      Array.from({ length: 30 }, () => records.read(key)),
    );
    await writing;
    for (const value of seen) expect([body, ...bodies]).toContainEqual(value);
    expect(readdirSync(layout.staging)).toEqual([]);
  });

  it("is absent after it was deleted, which may be done twice", async () => {
    const { records } = await prepare();
    await records.delete(key);
    await records.delete(key);
    expect(await records.read(key)).toBeUndefined();
  });
});

describe("a damaged record reads as absent and is reported", () => {
  it.each<[string, (text: string) => string]>([
    ["empty", () => ""],
    ["cut in its seal", (text) => text.slice(0, 20)],
    ["cut after its seal", (text) => text.slice(0, text.indexOf("\n") + 1)],
    ["cut in its body", (text) => text.slice(0, -5)],
    ["without its seal", (text) => text.slice(text.indexOf("\n") + 1)],
    ["changed in its body", (text) => text.replace("line one", "line 0ne")],
    ["changed in its digest", (text) => text.replace(/[0-9a-f](?="\}\n)/, "g")],
    ["full of zeros", (text) => "\0".repeat(text.length)],
    ["followed by more", (text) => `${text}{"text":"more"}\n`],
    ["not text", () => "\xff\xfe{}"],
  ])("when it is %s", async (_, damage) => {
    const { records, broken, text, change } = await prepare();
    change(damage(text));
    expect(await records.read(key)).toBeUndefined();
    expect(broken).toEqual([key.join("/")]);
    await records.write(key, body);
    expect(await records.read(key)).toEqual(body);
  });

  it("when it was moved to another name", async () => {
    const { layout, records, broken, path } = await prepare();
    const other: RecordKey = ["providers", "b.example", "acme", "1.0.0"];
    const target = recordPath(layout, other);
    mkdirSync(dirname(target), { recursive: true });
    copyFileSync(path, target);
    expect(await records.read(other)).toBeUndefined();
    expect(broken).toEqual([other.join("/")]);
  });
});

describe("a record key", () => {
  it.each([
    "",
    ".",
    "..",
    "../x",
    "a/b",
    "a\0b",
    "a b",
    ".hidden",
    "ä",
    "a\\b",
    "-x",
  ])("has no part %j", async (part) => {
    const { records } = await prepare();
    await expect(records.read(["providers", part])).rejects.toThrow(RangeError);
    await expect(records.write([part], {})).rejects.toThrow(RangeError);
    await expect(records.list([part])).rejects.toThrow(RangeError);
    await expect(records.delete([part])).rejects.toThrow(RangeError);
  });

  it("is listed by its last part below a prefix", async () => {
    const { records } = await prepare();
    await records.write(["providers", "b", "one"], {});
    await records.write(["providers", "b", "two.three"], {});
    await records.write(["providers", "b", "deeper", "four"], {});
    const listed = await records.list(["providers", "b"]);
    expect(listed.toSorted()).toEqual(["one", "two.three"]);
    expect(await records.list(["providers", "c"])).toEqual([]);
  });
});
