import { once } from "node:events";
import {
  mkdirSync,
  readdirSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { spawn } from "node:child_process";
import { describe, expect, it } from "vitest";
import { failing } from "../scenes/failing.ts";
import { layOutStore, stagingPath } from "../../src/store/layout.ts";
import {
  prepareStorageDirectory,
  sweepStaging,
} from "../../src/store/storage-directory.ts";
import { scratch } from "../running-mirror.ts";
import { makeLayout } from "./stores.ts";
import { endingWithTests } from "../child-process.ts";

it("leaves what other processes use in staging, until it is a day old", async () => {
  const layout = await makeLayout();
  const code = "setInterval(() => undefined, 1000)";
  const other = spawn(...endingWithTests(process.execPath, ["-e", code]));
  const pid = Number(other.pid);
  const [, rest = ""] = stagingPath(layout, "x").split(`-${process.pid}-`);
  const used = join(layout.staging, `archive-${pid}-${rest}`);
  const stuck = join(layout.staging, `folder-${pid}-${rest}`);
  writeFileSync(used, "x");
  mkdirSync(stuck);
  const twoDaysAgo = Date.now() / 1000 - 2 * 86_400;
  utimesSync(stuck, twoDaysAgo, twoDaysAgo);
  expect(await sweepStaging(layout)).toBe(1);
  expect(readdirSync(layout.staging)).toEqual([`archive-${pid}-${rest}`]);
  const dead = once(other, "exit");
  other.kill("SIGKILL");
  await dead;
  expect(await sweepStaging(layout)).toBe(1);
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
