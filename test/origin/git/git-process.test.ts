import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { refuseForRoom } from "../../../src/mirror/archives/room.ts";
import {
  GitFailed,
  notInstalled,
  runGit,
} from "../../../src/origin/git/git-process.ts";
import { scratch } from "../../running-mirror.ts";

const bounds = { memory: 2 ** 28, seconds: 30, bytes: 2 ** 20, files: 10 };

/** A folder to work in, and how this shell script runs there in git's place. */
function standIn(script: string, signal = new AbortController().signal) {
  const folder = scratch("git");
  writeFileSync(join(folder, "git"), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  const path = `${folder}:${process.env.PATH}`;
  const run = async (
    args: readonly string[] = [],
    other: object = {},
    hold?: (bytes: number) => Promise<void>,
  ) => {
    const own = { ...bounds, ...other };
    const place = {
      folder,
      path,
      bounds: own,
      signal,
      remote: undefined,
      ...(hold && { hold }),
    };
    return String(await runGit(args, place));
  };
  return { folder: join(folder, "repository.git"), run };
}

function fill(folder: string, files: number, bytes = 0): void {
  mkdirSync(folder, { recursive: true });
  for (let n = 0; n < files; n++)
    writeFileSync(join(folder, `${n}`), Buffer.alloc(bytes));
}

describe("git", () => {
  it("has bounds of memory, time and files, and reads nothing", async () => {
    const { run } = standIn("ulimit -v; ulimit -t; ulimit -f; ulimit -c; cat");
    expect(await run()).toBe(`${2 ** 18}\n30\n2048\n0\n`);
  });

  it("gets its arguments as they are, behind what disables the machine's settings", async () => {
    const odd = ["$(id)", "`id`", "; id", "a b", "", "*", "-c", "'\"\n"];
    const { run } = standIn("for one; do printf '%s|' \"$one\"; done");
    const printed = await run(odd);
    expect(printed.endsWith(`|${odd.join("|")}|`)).toBe(true);
    expect(printed).toContain("-c|core.hooksPath=/dev/null|");
  });

  it.each([
    ["memory", "dd if=/dev/zero of=/dev/null bs=1G count=1", /memory/, {}],
    ["a file's size", "dd if=/dev/zero of=large bs=64k count=32", /large/, {}],
    ["time", "while :; do :; done", /too much time/, { seconds: 1 }],
    ["output", "yes", "it says too much", {}],
  ])("is ended beyond its bound of %s", async (_, script, reason, other) => {
    const ended = standIn(script).run([], other);
    await expect(ended).rejects.toThrow(GitFailed);
    await expect(ended).rejects.toThrow(reason);
  });

  it("is ended when it is no longer wanted", async () => {
    const ending = new AbortController();
    const ended = standIn("sleep 60", ending.signal).run();
    ending.abort();
    await expect(ended).rejects.toThrow(GitFailed);
  });

  it("that is missing is said to be", async () => {
    const missing = { folder: scratch("git"), path: scratch("empty"), bounds };
    const { signal } = new AbortController();
    const ended = runGit([], { ...missing, signal, remote: undefined });
    await expect(ended).rejects.toThrow(notInstalled);
  });

  it.each<[string, (folder: string) => void, string]>([
    ["10 files", (at) => fill(at, 10), "done"],
    ["11 files", (at) => fill(at, 11), "too large"],
    ["10 files in a folder", (at) => fill(join(at, "a"), 10), "too large"],
    ["2 MiB far below", (at) => fill(join(at, "a/b"), 1, 2 ** 21), "too large"],
    ["as many bytes as it may", (at) => fill(at, 8, 2 ** 17), "done"],
    ["nothing, not even itself", () => undefined, "done"],
  ])("may have a repository of so much: %s", async (_, make, expected) => {
    const { folder, run } = standIn("sleep 0.5; echo done");
    make(folder);
    const outcome = await run().catch((error: unknown) => String(error));
    expect(outcome).toContain(expected);
  });

  it("is ended when there is no room for what its repository has grown to, with that refusal", async () => {
    const sizes: number[] = [];
    const full = refuseForRoom("the module's repository");
    const { folder, run } = standIn("sleep 60");
    const ended = run([], {}, (bytes) => {
      sizes.push(bytes);
      return bytes > 100_000 ? Promise.reject(full) : Promise.resolve();
    });
    const refused = expect(ended).rejects.toBe(full);
    await expect.poll(() => sizes.length).toBeGreaterThan(1);
    fill(join(folder, "objects"), 2, 60_000);
    await refused;
    expect(sizes.at(0)).toBe(0);
    expect(sizes.at(-1)).toBe(120_000);
  });
});
