import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { failure } from "../../src/errors/index.ts";
import { failing } from "../scenes/failing.ts";
import { layOutStore } from "../../src/store/layout.ts";
import { DiskRecords } from "../../src/store/records/disk-records.ts";
import { prepareStorageDirectory } from "../../src/store/storage-directory.ts";
import { runHere } from "../running-here.ts";
import { scratch } from "../running-mirror.ts";

const asItIs = (body: unknown) => body;
const empty = () => layOutStore(scratch("version"));

describe("the version of a store", () => {
  it("is said in a new one", async () => {
    const layout = empty();
    await prepareStorageDirectory(layout);
    expect(readFileSync(layout.version, "utf8")).toBe('{"version":1}\n');
  });

  it("is the first one where nothing says it, and what is there stays", async () => {
    const layout = empty();
    const key = ["trust", "seen", "a.example", "acme"];
    mkdirSync(layout.records, { recursive: true });
    mkdirSync(layout.staging);
    await new DiskRecords(layout).create(key, { notes: [1] }, asItIs);
    await prepareStorageDirectory(layout);
    const kept = await new DiskRecords(layout).read(key, asItIs);
    expect(kept).toEqual({ notes: [1] });
    expect(readFileSync(layout.version, "utf8")).toBe('{"version":1}\n');
  });

  it.each([
    ["says so", "store.json", '{"version":2}'],
    ["has records of another form", "records/v2/of", "it"],
  ])("is refused untouched when a newer one %s", async (_, name, text) => {
    const layout = empty();
    const path = join(layout.directory, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
    const before = readdirSync(layout.directory, { recursive: true });
    const prepared = prepareStorageDirectory(layout);
    await expect(prepared).rejects.toThrow(failing("store-too-new"));
    await expect(prepared).rejects.toThrow("knows stores up to version 1");
    expect(readdirSync(layout.directory, { recursive: true })).toEqual(before);
  });

  it.each(["", "{", '{"version":"1"}', '{"version":1.5}'])(
    "is unknown, and not the first one, when its file says %j",
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
      writeFileSync(layout.version, '{"version":2}');
      const config = join(layout.directory, "provender.yaml");
      writeFileSync(
        config,
        JSON.stringify({
          storage: { directory: layout.directory },
          listen: { port: 0 },
        }),
      );
      const args = [...command.split(" "), "--config", config];
      const { status, stdout, stderr } = await runHere(args);
      expect([status, stdout]).toEqual([2, ""]);
      expect(stderr).toBe(
        `provender: ${failure("store-too-new", layout.directory, 2, 1).message}\n`,
      );
    },
  );
});
