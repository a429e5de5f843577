import {
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { failure } from "../../src/errors/index.ts";
import { failing } from "../scenes/failing.ts";
import { layOutStore } from "../../src/store/layout.ts";
import { prepareStorageDirectory } from "../../src/store/storage-directory.ts";
import { makeStorage } from "../commands/storage.ts";
import { runHere } from "../running-here.ts";
import { scratch } from "../running-mirror.ts";
import { makeLayout, openRecords } from "./stores.ts";

const asItIs = (body: unknown) => body;
const empty = () => layOutStore(scratch("version"));

describe("the version of a store", () => {
  it("is said in a new one", async () => {
    const layout = empty();
    await prepareStorageDirectory(layout);
    expect(readFileSync(layout.version, "utf8")).toBe('{"version":3}\n');
  });

  it("is this one where nothing says it, and what is there stays", async () => {
    const layout = await makeLayout();
    const key = ["namespaces", "a.example", "acme"] as const;
    await openRecords(layout).swap(key, 0, { notes: [1] });
    rmSync(layout.version);
    await prepareStorageDirectory(layout);
    const kept = await openRecords(layout).read(key, asItIs);
    expect(kept).toEqual({ notes: [1] });
    expect(readFileSync(layout.version, "utf8")).toBe('{"version":3}\n');
  });

  it.each([
    ["store-too-new", "says so", "store.json", '{"version":4}'],
    ["store-too-old", "says so", "store.json", '{"version":2}'],
    ["store-too-old", "has records in files", "records/v1/a.json", "it"],
  ] as const)("is refused untouched: %s %s", async (code, _, name, text) => {
    const layout = empty();
    const path = join(layout.directory, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
    const before = readdirSync(layout.directory, { recursive: true });
    const prepared = prepareStorageDirectory(layout);
    await expect(prepared).rejects.toThrow(failing(code));
    expect(readdirSync(layout.directory, { recursive: true })).toEqual(before);
  });

  it.each(["", "{", '{"version":"1"}', '{"version":1.5}'])(
    "is unknown, and not this one, when its file says %j",
    async (text) => {
      const layout = empty();
      writeFileSync(layout.version, text);
      const prepared = prepareStorageDirectory(layout);
      await expect(prepared).rejects.toThrow(
        failing("store-version-unreadable"),
      );
      await expect(prepared).rejects.toThrow(layout.version);
      expect(readdirSync(layout.directory)).toEqual(["store.json"]);
    },
  );

  it.each(["serve", "trust list"])(
    "ends `%s` with one sentence and status 2 when it is a newer one",
    async (command) => {
      const layout = empty();
      writeFileSync(layout.version, '{"version":4}');
      const { directory } = layout;
      const { configFile } = makeStorage({ listen: { port: 0 } }, directory);
      const args = [...command.split(" "), "--config", configFile];
      const { status, stdout, stderr } = await runHere(args);
      expect([status, stdout]).toEqual([2, ""]);
      expect(stderr).toBe(
        `provender: ${failure("store-too-new", layout.directory, 4, 3).message}\n`,
      );
    },
  );
});
