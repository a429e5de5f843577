import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { refuseForRoom } from "../../../src/mirror/archives/room.ts";
import {
  outgrows,
  runGit,
  startGit,
  withoutRemote,
} from "../../../src/origin/git/git-process.ts";
import { scratch } from "../../running-mirror.ts";

const bounds = { bytes: 10_000, files: 10 };

function fill(folder: string, files: number, bytes = 0): void {
  mkdirSync(folder, { recursive: true });
  for (let n = 0; n < files; n++)
    writeFileSync(join(folder, `${n}`), Buffer.alloc(bytes));
}

/** Whether it was too much as it was found. */
async function isTooMuch(folder: string, expected: boolean): Promise<boolean> {
  const ending = new AbortController();
  const answer = outgrows(folder, bounds, ending.signal);
  const before = AbortSignal.timeout(expected ? 20_000 : 1_000);
  before.addEventListener("abort", () => ending.abort());
  return answer;
}

describe("a folder that is watched", () => {
  it.each<[string, boolean, (folder: string) => void]>([
    ["10 files", false, (at) => fill(at, 10)],
    ["11 files", true, (at) => fill(at, 11)],
    ["9 files in a folder", false, (at) => fill(join(at, "a"), 9)],
    ["10 files in a folder", true, (at) => fill(join(at, "a"), 10)],
    ["11 folders", true, (at) => fill(join(at, "a/b/c/d/e/f/g/h/i/j/k"), 0)],
    ["10 000 bytes", false, (at) => fill(at, 10, 1_000)],
    ["10 010 bytes", true, (at) => fill(at, 10, 1_001)],
    ["10 001 bytes far below", true, (at) => fill(join(at, "a/b"), 1, 10_001)],
    ["nothing, not even itself", false, () => undefined],
  ])("may hold so much and no larger: %s", async (_, expected, make) => {
    const folder = join(scratch("watched"), "folder");
    make(folder);
    expect(await isTooMuch(folder, expected)).toBe(expected);
  });

  it("is found out when it grows later", async () => {
    const folder = join(scratch("watched"), "folder");
    const answer = outgrows(folder, bounds, new AbortController().signal);
    await turn();
    fill(folder, 11);
    expect(await answer).toBe(true);
  });
});

/** An empty repository. */
async function makeRepository() {
  const folder = scratch("git");
  mkdirSync(join(folder, "home"));
  const place = {
    folder,
    path: process.env.PATH ?? "",
    bounds: { memory: 2 ** 29, seconds: 30, bytes: 2 ** 24, files: 100 },
  };
  const surroundings = withoutRemote(place, new AbortController().signal);
  await runGit(["init", "--quiet", "--bare", "--template="], surroundings);
  return { folder, surroundings };
}

describe("git", () => {
  it("is ended when there is no room for what its repository has grown to, with that refusal", async () => {
    const { folder, surroundings } = await makeRepository();
    const sizes: number[] = [];
    const full = refuseForRoom("the module's repository");
    const hold = (bytes: number) => {
      sizes.push(bytes);
      return bytes > 100_000 ? Promise.reject(full) : Promise.resolve();
    };
    const { ended } = startGit(["cat-file", "--batch"], {
      ...surroundings,
      hold,
    });
    const refused = expect(ended).rejects.toBe(full);
    await expect.poll(() => sizes.length).toBeGreaterThan(0);
    fill(join(folder, "repository.git", "objects", "00"), 2, 60_000);
    await refused;
    expect(sizes.at(-1)).toBeGreaterThan(120_000);
    expect(sizes[0]).toBeLessThan(10_000);
  });

  it("is ended when its repository has too many files", async () => {
    const { folder, surroundings } = await makeRepository();
    const { ended } = startGit(["cat-file", "--batch"], surroundings);
    const refused = expect(ended).rejects.toThrow("it is too large");
    fill(join(folder, "repository.git", "objects", "00"), 101);
    await refused;
  });
});
