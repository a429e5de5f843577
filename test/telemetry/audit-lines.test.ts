import { mkdir, rm, type FileHandle } from "node:fs/promises";
import { afterEach, beforeEach, expect, test } from "vitest";
import { failing } from "../scenes/failing.ts";
import { AuditDirectory, durable, entry, numbers } from "./audit-directory.ts";

let audit: AuditDirectory;
beforeEach(async () => {
  audit = await AuditDirectory.create();
});
afterEach(() => audit.remove());

/** Lets the test hold each sync back, pass it or fail it. */
function heldSync() {
  const calls: PromiseWithResolvers<void>[] = [];
  const waiting: (() => void)[] = [];
  let holding = true;
  return {
    calls,
    sync: async (handle: FileHandle) => {
      if (!holding) return handle.datasync();
      const call = Promise.withResolvers<void>();
      calls.push(call);
      waiting.shift()?.();
      await call.promise;
      await handle.datasync();
    },
    /** Later syncs pass. */
    letGo: () => (holding = false),
    next: () => new Promise<void>((resolve) => waiting.push(resolve)),
  };
}

test("resolves a durable record only after the sync", async () => {
  const held = heldSync();
  const log = audit.open({ sync: held.sync });
  const events: string[] = [];
  const called = held.next();
  const recorded = log
    .record(entry(1), durable)
    .then(() => events.push("recorded"));
  await called;
  expect(await audit.readIds()).toEqual([1]);
  events.push("synced");
  held.calls[0]?.resolve();
  await recorded;
  expect(events).toEqual(["synced", "recorded"]);
  held.letGo();
  await log.close();
});

test("shares one sync among the records that came during the one before", async () => {
  const held = heldSync();
  const log = audit.open({ sync: held.sync });
  let called = held.next();
  const first = log.record(entry(1), durable);
  await called;
  const others = numbers(2, 1000).map((id) => log.record(entry(id), durable));
  called = held.next();
  held.calls[0]?.resolve();
  await first;
  await called;
  held.calls[1]?.resolve();
  await Promise.all(others);
  expect(held.calls).toHaveLength(2);
  held.letGo();
  await log.close();
  expect(await audit.readIds()).toEqual(numbers(1, 1000));
});

test("counts the records that do not fit into its memory, and has room again afterwards", async () => {
  const held = heldSync();
  const log = audit.open({ sync: held.sync, maxWaiting: 250 });
  const called = held.next();
  const first = log.record(entry(1), durable);
  await called;
  for (const id of numbers(2, 6))
    await log.record(entry(id), { durable: false });
  expect(audit.lost.map(({ entries }) => entries)).toEqual([1, 1, 1]);
  expect(audit.lost[0]?.cause).toEqual(failing("too-busy"));
  const again = held.next();
  held.calls[0]?.resolve();
  await first;
  const second = log.record(entry(7), durable);
  await again;
  held.calls[1]?.resolve();
  await second;
  await log.record(entry(8), { durable: false });
  held.letGo();
  await log.close();
  expect(await audit.readIds()).toEqual([1, 2, 3, 7, 8]);
});

test("rejects a durable record whose sync failed, and writes the next one through a new handle", async () => {
  const handles: FileHandle[] = [];
  const log = audit.open({
    sync: async (handle) => {
      handles.push(handle);
      if (handles.length === 1) throw new Error("EIO: i/o error, fdatasync");
      await handle.datasync();
    },
  });
  const failed = log.record(entry(1), durable);
  await expect(failed).rejects.toThrow(failing("store-full"));
  await expect(failed).rejects.toThrow(/EIO/);
  await log.record(entry(2), durable);
  expect(handles[1]).not.toBe(handles[0]);
  expect((await audit.readIds()).at(-1)).toBe(2);
  await log.close();
});

test("rejects durable records and counts the others while the file cannot be opened, and recovers", async () => {
  await mkdir(audit.path);
  const log = audit.open();
  await expect(log.record(entry(1), durable)).rejects.toThrow(
    failing("store-full"),
  );
  await log.record(entry(2), { durable: false });
  await expect(log.record(entry(3), durable)).rejects.toThrow(/EISDIR/);
  expect(audit.lost.reduce((sum, { entries }) => sum + entries, 0)).toBe(1);
  expect(audit.lost[0]?.cause).toEqual(failing("store-full"));
  await rm(audit.path, { recursive: true });
  await log.record(entry(4), durable);
  expect(await audit.readIds()).toEqual([4]);
  await log.close();
});
