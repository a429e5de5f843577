import { hash } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { openDatabase } from "../../../src/store/database/database.ts";
import { RecordStore } from "../../../src/store/records/record-store.ts";
import { blobPath } from "../../../src/store/layout.ts";
import type { Sha256 } from "../../../src/address/hash.ts";
import { failing } from "../../scenes/failing.ts";
import { plantRecords } from "../../scenes/planted-records.ts";
import {
  askDatabase,
  damageRecord,
  loseRecord,
  makeLayout,
} from "../stores.ts";

describe("a database", () => {
  /** A closed database with some pages. */
  async function fill() {
    const layout = await makeLayout();
    const database = openDatabase(layout);
    const records = new RecordStore(database);
    for (let n = 0; n < 200; n++)
      await records.swap(["secrets", `r${n}`], 0, { text: "x".repeat(1_000) });
    await database.close();
    return layout;
  }

  it.each<[string, (path: string) => void]>([
    ["is cut short", (path) => truncateSync(path, statSync(path).size / 2)],
    [
      "has overwritten pages",
      (path) => {
        const bytes = readFileSync(path);
        bytes.fill(7, 20 * 4_096, 40 * 4_096);
        writeFileSync(path, bytes);
      },
    ],
    [
      "is another program's file",
      (path) => writeFileSync(path, "PK\x03\x04".repeat(2_000)),
    ],
  ])(
    "that %s is refused at the start, and left as it is",
    async (_, damage) => {
      const layout = await fill();
      damage(layout.database);
      const before = readFileSync(layout.database);
      expect(() => openDatabase(layout)).toThrow(failing("database-damaged"));
      expect(() => openDatabase(layout)).toThrow(layout.database);
      expect(readFileSync(layout.database).equals(before)).toBe(true);
    },
  );

  it.each([
    ["missing", (path: string) => rmSync(path)],
    ["emptied", (path: string) => truncateSync(path)],
  ])("that is %s beside archives is not begun again", async (_, damage) => {
    const layout = await fill();
    const archive = blobPath(layout, hash("sha256", "x") as Sha256);
    mkdirSync(dirname(archive), { recursive: true });
    writeFileSync(archive, "x");
    damage(layout.database);
    expect(() => openDatabase(layout)).toThrow(failing("database-missing"));
    expect(() => openDatabase(layout)).toThrow(failing("database-missing"));
  });

  it("is not begun beside records of the time before it", async () => {
    const layout = await makeLayout();
    mkdirSync(join(layout.directory, "records"));
    expect(() => openDatabase(layout)).toThrow(failing("store-too-old"));
    expect(existsSync(layout.database)).toBe(false);
  });

  it("of the layout before knows the packages of its releases once it was opened", async () => {
    const layout = await makeLayout();
    const path = ["h.example", "acme", "widget"];
    const at = "2026-01-01T00:00:00.000Z";
    const bodyOf = (content: object) => ({ pinned: { content, at } });
    plantRecords(layout.directory, [
      [
        ["releases", ...path, "1.0.0"],
        bodyOf({ linux_amd64: "a", linux_arm: "b" }),
      ],
      [["releases", ...path, "2.0.0"], { pinned: null }],
      [["releases", ...path, "3.0.0"], bodyOf({ linux_amd64: "c" })],
    ]);
    damageRecord(layout, ["releases", ...path, "2.0.0"]);
    const list = () =>
      askDatabase(layout, "SELECT version, platform, sha256 FROM packages").map(
        (row) => Object.values(row).join(" "),
      );
    const all = [
      "1.0.0 linux_amd64 a",
      "1.0.0 linux_arm b",
      "3.0.0 linux_amd64 c",
    ];
    for (const text of [
      "DROP TRIGGER packages_delete",
      "DROP TABLE packages",
      "ALTER TABLE uses DROP COLUMN size",
      "PRAGMA user_version = 1",
    ])
      askDatabase(layout, text);
    await openDatabase(layout).close();
    expect(list()).toEqual(all);
    loseRecord(layout, ["releases", ...path, "1.0.0"]);
    expect(list()).toEqual(all.slice(2));
  });

  it("is for its owner alone, and a later version of it is refused", async () => {
    const layout = await fill();
    expect(statSync(layout.database).mode & 0o777).toBe(0o600);
    askDatabase(layout, "PRAGMA user_version = 99");
    expect(() => openDatabase(layout)).toThrow(failing("database-too-new"));
  });
});
