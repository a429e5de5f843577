import {
  readdir,
  readFile,
  rename,
  rm,
  stat,
  writeFile,
} from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { AuditDirectory, durable, entry, numbers } from "./audit-directory.ts";

let audit: AuditDirectory;
beforeEach(async () => {
  audit = await AuditDirectory.create();
});
afterEach(() => audit.remove());

test("makes the file readable for its owner alone", async () => {
  const log = audit.open();
  await log.record(entry(1), durable);
  expect((await stat(audit.path)).mode & 0o777).toBe(0o600);
  await log.close();
});

test("removes a line that was cut short", async () => {
  await writeFile(audit.path, '{"at":"2026-11-21T09:00:00.000Z","eve');
  const log = audit.open();
  await log.record(entry(1), durable);
  await log.close();
  const [whole, ...rest] = await audit.readLines();
  expect(JSON.parse(whole ?? "")).toMatchObject({ requestId: "1" });
  expect(rest).toEqual([]);
});

test("moves aside when it is full, loses no line, and keeps as many files as configured", async () => {
  const log = audit.open({ maxSize: 1000, keep: 3 });
  await Promise.all(numbers(1, 60).map((id) => log.record(entry(id), durable)));
  await log.close();
  const names = ["audit.jsonl.3", "audit.jsonl.2", "audit.jsonl.1"];
  expect((await readdir(audit.folder)).toSorted()).toEqual(
    ["audit.jsonl", ...names].toSorted(),
  );
  const kept: number[] = [];
  for (const name of [...names, "audit.jsonl"]) {
    const file = join(audit.folder, name);
    expect((await stat(file)).size).toBeLessThanOrEqual(1000);
    kept.push(...(await audit.readIds(file)));
  }
  expect(kept).toEqual(numbers(61 - kept.length, 60));
  expect(kept.length).toBeGreaterThan(30);
});

test("syncs a file before it moves aside, also when no writer waited for its lines", async () => {
  const synced: number[] = [];
  const log = audit.open({
    maxSize: 1000,
    sync: async (handle) => {
      synced.push((await handle.stat()).ino);
      await handle.datasync();
    },
  });
  for (const id of numbers(1, 15))
    await log.record(entry(id), { durable: false });
  await log.close();
  const files = ["audit.jsonl.1", "audit.jsonl"].map((name) =>
    join(audit.folder, name),
  );
  const stats = await Promise.all(files.map((file) => stat(file)));
  expect(synced).toEqual(stats.map(({ ino }) => ino));
});

test("loses no older file when a rotation was cut short", async () => {
  // As after a crash between the renames: .1 has become .2 and the current file is still in place.
  await writeFile(`${audit.path}.2`, "older\n");
  await writeFile(`${audit.path}.3`, "oldest\n");
  await writeFile(audit.path, `${"x".repeat(99)}\n`);
  const log = audit.open({ maxSize: 100, keep: 3 });
  await log.record(entry(1), durable);
  await log.close();
  expect(await readFile(`${audit.path}.3`, "utf8")).toBe("oldest\n");
  expect(await readFile(`${audit.path}.2`, "utf8")).toBe("older\n");
  expect(await readFile(`${audit.path}.1`, "utf8")).toMatch(/^x+\n$/);
  expect(await audit.readIds()).toEqual([1]);
});

test("starts a new file when the old one was removed or moved", async () => {
  const log = audit.open();
  await log.record(entry(1), durable);
  await rm(audit.path);
  await log.record(entry(2), durable);
  expect(await audit.readIds()).toEqual([2]);
  await rename(audit.path, join(audit.folder, "moved"));
  await log.record(entry(3), durable);
  expect(await audit.readIds()).toEqual([3]);
  await log.close();
});
