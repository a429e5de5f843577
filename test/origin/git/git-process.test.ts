import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { refuseForRoom } from "../../../src/mirror/archives/room.ts";
import {
  GitFailed,
  type GitSurroundings,
  notInstalled,
  runGit,
} from "../../../src/origin/git/git-process.ts";
import { scratch } from "../../running-mirror.ts";

const bounds = { memory: 2 ** 28, seconds: 30, bytes: 2 ** 20, files: 10 };
const never = new AbortController().signal;

/** A folder to work in, and how this shell script runs there in git's place. */
function standIn(script: string, other: Partial<GitSurroundings> = {}) {
  const folder = scratch("git");
  writeFileSync(join(folder, "git"), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  const path = `${folder}:${process.env.PATH}`;
  const own = { folder, path, bounds, signal: never, remote: undefined };
  return {
    repository: join(folder, "repository.git"),
    run: async (...args: readonly string[]) =>
      String(await runGit(args, { ...own, ...other })),
  };
}

function fill(folder: string, files: number, bytes = 0): void {
  mkdirSync(folder, { recursive: true });
  for (let n = 0; n < files; n++)
    writeFileSync(join(folder, `${n}`), Buffer.alloc(bytes));
}

it("git has bounds of memory, time and files, and reads nothing", async () => {
  const { run } = standIn("ulimit -v; ulimit -t; ulimit -f; ulimit -c; cat");
  expect(await run()).toBe(`${2 ** 18}\n30\n2048\n0\n`);
});

it("git gets its arguments as they are, behind what disables the machine's settings", async () => {
  const odd = ["$(id)", "`id`", "; id", "a b", "", "*", "-c", "'\"\n"];
  const { run } = standIn("for one; do printf '%s|' \"$one\"; done");
  const printed = await run(...odd);
  expect(printed.endsWith(`|${odd.join("|")}|`)).toBe(true);
  expect(printed).toContain("-c|core.hooksPath=/dev/null|");
});

it.each([
  ["memory", "dd if=/dev/zero of=/dev/null bs=1G count=1", /memory/],
  ["a file's size", "dd if=/dev/zero of=large bs=64k count=32", /large/],
  ["time", "while :; do :; done", /too much time/],
  ["output", "yes", "it says too much"],
])("git is ended beyond its bound of %s", async (what, script, reason) => {
  const seconds = what === "time" ? 1 : 30;
  const ended = standIn(script, { bounds: { ...bounds, seconds } }).run();
  await expect(ended).rejects.toThrow(GitFailed);
  await expect(ended).rejects.toThrow(reason);
});

it("git is ended when it is no longer wanted", async () => {
  const ending = new AbortController();
  const ended = standIn("sleep 60", { signal: ending.signal }).run();
  ending.abort();
  await expect(ended).rejects.toThrow(GitFailed);
});

it("git that is missing is said to be", async () => {
  const { run } = standIn("", { path: scratch("empty") });
  await expect(run()).rejects.toThrow(notInstalled);
});

it.each<[string, (folder: string) => void, string]>([
  ["10 files", (at) => fill(at, 10), "done"],
  ["11 files", (at) => fill(at, 11), "too large"],
  ["10 files in a folder", (at) => fill(join(at, "a"), 10), "too large"],
  ["2 MiB far below", (at) => fill(join(at, "a/b"), 1, 2 ** 21), "too large"],
  ["as many bytes as it may", (at) => fill(at, 8, 2 ** 17), "done"],
  ["nothing, not even itself", () => undefined, "done"],
])("git may have a repository of so much: %s", async (_, make, expected) => {
  const { repository, run } = standIn("sleep 0.5; echo done");
  make(repository);
  const outcome = await run().catch((error: unknown) => String(error));
  expect(outcome).toContain(expected);
});

it("git is ended when there is no room for what its repository has grown to, with that refusal", async () => {
  const sizes: number[] = [];
  const full = refuseForRoom("the module's repository");
  const { repository, run } = standIn("sleep 60", {
    hold: async (bytes) => {
      sizes.push(bytes);
      if (bytes > 100_000) await Promise.reject(full);
    },
  });
  const refused = expect(run()).rejects.toBe(full);
  await expect.poll(() => sizes.length).toBeGreaterThan(1);
  fill(join(repository, "objects"), 2, 60_000);
  await refused;
  expect([sizes.at(0), sizes.at(-1)]).toEqual([0, 120_000]);
});
