import { open, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { scratch } from "../../running-mirror.ts";
import { packageLimits as limits } from "../../../src/verification/archives/limits.ts";
import { hashPackage } from "../../../src/verification/archives/package-hash.ts";
import { ArchiveThreads } from "../../../src/verification/archives/threads.ts";
import { zipBytes, type ZipPart } from "./zip-bytes.ts";

const directory = scratch("threads");

/** Threads until the test is over. */
function start(deadlineMs = 20_000, threads = 1): ArchiveThreads {
  const started = new ArchiveThreads(limits, { threads, deadlineMs });
  onTestFinished(() => started.close());
  return started;
}

async function opened(name: string, bytes: Buffer) {
  const path = join(directory, name);
  await writeFile(path, bytes);
  const file = await open(path);
  onTestFinished(() => file.close());
  return { fd: file.fd, size: bytes.length };
}

test("gives each of many archives the h1 that hashPackage gives it", async () => {
  const threads = start(20_000, 2);
  const archives = await Promise.all(
    Array.from("0123456", (content) =>
      opened(`many-${content}`, zipBytes([{ name: "n", content }])),
    ),
  );
  const hashes = await Promise.all(archives.map((a) => threads.hash(a)));
  const expected = archives.map((a) => hashPackage(a, limits));
  expect(hashes).toEqual(await Promise.all(expected));
  expect(new Set(hashes).size).toBe(archives.length);
});

test("what is refused stays so across the threads, with its reason", async () => {
  const threads = start();
  const bytes = zipBytes([{ name: "../a/", content: "" }]);
  const archive = await opened("directory", bytes);
  await expect(threads.hash(archive)).rejects.toMatchObject({
    ...{ code: "archive-unhashable", cause: undefined },
    reason: "it has an entry for a directory",
  });
  const verified = threads.verify("a module", "zip", archive);
  await expect(verified).rejects.toMatchObject({
    ...{ code: "module-archive-refused", module: "a module" },
    reason: 'a member is named "../a/"',
  });
});

test("a fault of the disk stays one across the threads", async () => {
  const threads = start();
  const { fd } = await opened("short", Buffer.alloc(10));
  await expect(threads.hash({ fd, size: 1000 })).rejects.toThrow(
    /^The archive ended after 10 of 1000 bytes/,
  );
});

test("ends a thread that overruns its deadline, and goes on with another one", async () => {
  const threads = start(1000);
  const endless = await openSparse();
  const small = await opened("small", zipBytes([{ name: "a", content: "a" }]));
  const overrun = threads.hash(endless);
  const next = threads.hash(small);
  await expect(overrun).rejects.toMatchObject({
    code: "archive-unhashable",
    reason: "it could not be read within 1000 ms",
  });
  expect(await next).toBe(await hashPackage(small, limits));
});

test("rejects what waits and what is under way when it closes, which it tells from then on", async () => {
  const threads = start();
  const sparse = await openSparse();
  const before = process.cpuUsage();
  const waiting = Array.from({ length: 50 }, () => threads.hash(sparse));
  const outcomes = Promise.allSettled(waiting);
  // One is under way once the thread has worked for 100 ms.
  await expect.poll(() => process.cpuUsage(before).user).toBeGreaterThan(1e5);
  expect(threads.isClosed).toBe(false);
  const closed = threads.close();
  expect(threads.isClosed).toBe(true);
  await closed;
  // The one under way was looked at to its end, else.
  for (const outcome of await outcomes)
    expect(outcome).toMatchObject({
      status: "rejected",
      reason: expect.not.objectContaining({
        code: "archive-unhashable",
      }) as unknown,
    });
});

/** A zip with one stored entry of almost 4 GiB, all a hole in the file: it takes seconds to hash and no disk. */
async function openSparse() {
  const hole = 0xf0000000;
  const headerBytes = 31;
  const part: ZipPart = { name: "a", content: "", size: hole, rawBytes: hole };
  const bytes = zipBytes([part], { directoryStart: headerBytes + hole });
  const file = await open(join(directory, `sparse-${Math.random()}`), "w+");
  await file.write(bytes, 0, headerBytes, 0);
  await file.write(bytes, headerBytes, undefined, headerBytes + hole);
  onTestFinished(() => file.close());
  return { fd: file.fd, size: hole + bytes.length };
}
