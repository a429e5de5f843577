import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import {
  mkdirSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, it, onTestFinished } from "vitest";
import { failing } from "../scenes/failing.ts";
import { layOutStore } from "../../src/store/layout.ts";
import {
  lockStorageDirectory,
  sweepStaging,
  prepareStorageDirectory,
} from "../../src/store/storage-directory.ts";
import { scratch, startMirror } from "../running-mirror.ts";
import { makeLayout } from "./stores.ts";
import { endingWithTests } from "../child-process.ts";

const store = pathToFileURL(
  join(import.meta.dirname, "..", "..", "src", "store"),
).href;

/** Another process that holds the lock of the directory. */
async function startHolder(directory: string): Promise<ChildProcess> {
  const code = `
    const { layOutStore } = await import("${store}/layout.ts");
    const { lockStorageDirectory } = await import("${store}/storage-directory.ts");
    globalThis.lock = lockStorageDirectory(layOutStore(${JSON.stringify(directory)}), "a test");
    setInterval(() => undefined, 1000);
    console.log("held");`;
  const child = spawn(
    ...endingWithTests(process.execPath, ["--input-type=module", "-e", code]),
    {
      stdio: ["ignore", "pipe", "inherit"],
    },
  );
  onTestFinished(() => void child.kill("SIGKILL"));
  await once(child.stdout, "data");
  return child;
}

describe("the lock of a storage directory", () => {
  it("refuses a second process while the first one lives, and is free once it is killed", async () => {
    const layout = await makeLayout();
    const holder = await startHolder(layout.directory);
    expect(() => lockStorageDirectory(layout, "a test")).toThrow(
      failing("store-in-use"),
    );
    expect(() => lockStorageDirectory(layout, "a test")).toThrow(
      layout.directory,
    );
    const dead = once(holder, "exit");
    holder.kill("SIGKILL");
    await dead;
    const lock = lockStorageDirectory(layout, "a test");
    lock.release();
  });

  it("refuses a second holder in one process, and is free after its release", async () => {
    const layout = await makeLayout();
    const lock = lockStorageDirectory(layout, "a test");
    expect(() => lockStorageDirectory(layout, "a test")).toThrow(
      failing("store-in-use"),
    );
    lock.release();
    lockStorageDirectory(layout, "a test").release();
  });

  it("cannot be had where its file is something else", async () => {
    const layout = await makeLayout();
    writeFileSync(layout.lock, "this is no lock file at all, and long enough");
    expect(() => lockStorageDirectory(layout, "a test")).toThrow(
      failing("store-unusable"),
    );
  });
});

it("clears staging of all that killed processes left", async () => {
  const layout = await makeLayout();
  writeFileSync(join(layout.staging, "archive-left"), "x");
  mkdirSync(join(layout.staging, "packing"));
  writeFileSync(join(layout.staging, "packing", "file"), "x");
  expect(await sweepStaging(layout)).toBe(2);
  expect(readdirSync(layout.staging)).toEqual([]);
});

describe("a lock whose file was removed", () => {
  it("is taken again while it is free, and for its owner only", async () => {
    const layout = await makeLayout();
    const lock = lockStorageDirectory(layout, "a test");
    rmSync(layout.lock);
    expect(lock.keep()).toBe(true);
    expect(statSync(layout.lock).mode & 0o777).toBe(0o600);
    expect(() => lockStorageDirectory(layout, "a test")).toThrow(
      failing("store-in-use"),
    );
    lock.release();
  });

  it("is lost when another daemon has it", async () => {
    const layout = await makeLayout();
    const lock = lockStorageDirectory(layout, "a test");
    rmSync(layout.lock);
    const second = lockStorageDirectory(layout, "a test");
    expect(lock.keep()).toBe(false);
    second.release();
    expect(lock.keep()).toBe(true);
    lock.release();
  });

  it("ends the first daemon, so that two never go on", async () => {
    const first = await startMirror();
    rmSync(join(first.directory, "daemon.lock"));
    const ended = once(first.process, "exit");
    const second = await startMirror({ directory: first.directory }).catch(
      () => undefined,
    );
    // The first one may have taken its lock again before the second one came.
    if (second === undefined) await first.stop();
    else await ended;
    await second?.stop();
  });
});

describe("a storage directory", () => {
  it("is made with its parents, for its owner only", async () => {
    const layout = layOutStore(join(scratch("new"), "a", "b"));
    await prepareStorageDirectory(layout);
    await prepareStorageDirectory(layout);
    for (const folder of [layout.blobs, layout.staging])
      expect(statSync(folder).mode & 0o777).toBe(0o700);
  });

  it.each([
    ["a file is in its place", (folder: string) => join(folder, "file")],
    ["a file is above it", (folder: string) => join(folder, "file", "store")],
    ["it cannot be written", () => "/sys/provender"],
  ])("is unusable when %s", async (_, place) => {
    const folder = scratch("unusable");
    writeFileSync(join(folder, "file"), "");
    const directory = place(folder);
    const prepared = prepareStorageDirectory(layOutStore(directory));
    await expect(prepared).rejects.toThrow(failing("store-unusable"));
    await expect(prepared).rejects.toThrow(directory);
  });
});
