import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setImmediate as turn } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { refuseForRoom } from "../../../src/mirror/archives/room.ts";
import {
  outgrows,
  runGit,
  startBounded,
} from "../../../src/origin/git/git-process.ts";
import { scratch } from "../../running-mirror.ts";

describe("a bounded process", () => {
  async function run(command: readonly string[], other: object = {}) {
    const bounds = { memory: 2 ** 28, seconds: 30, bytes: 2 ** 20, ...other };
    const env = { PATH: process.env.PATH };
    const folder = scratch("bounded");
    const { child, ended } = startBounded(command, bounds, folder, env);
    child.stdin.end("from stdin");
    const [printed, status] = await Promise.all([text(child.stdout), ended]);
    return { printed, status };
  }

  it("has bounds of memory, time and files, and reads what it is sent", async () => {
    const script = "ulimit -v; ulimit -t; ulimit -f; ulimit -c; cat";
    expect(await run(["sh", "-c", script])).toEqual({
      printed: `${2 ** 18}\n30\n2048\n0\nfrom stdin`,
      status: 0,
    });
  });

  it("gets its arguments as they are, and its status is returned", async () => {
    const odd = ["$(id)", "`id`", "; id", "a b", "", "*", "-c", "'\"\n"];
    const print = "for one; do printf '%s|' \"$one\"; done; exit 7";
    const printed = `${odd.join("|")}|`;
    const ran = await run(["sh", "-c", print, "sh", ...odd]);
    expect(ran).toEqual({ printed, status: 7 });
  });

  it.each([
    ["memory", "dd if=/dev/zero of=/dev/null bs=1G count=1", {}],
    ["file size", "dd if=/dev/zero of=large bs=64k count=32", {}],
    ["time", "while :; do :; done", { seconds: 1 }],
  ])("ends beyond its bound of %s", async (_, script, other) => {
    const { status } = await run(["sh", "-c", script], other);
    expect(status).not.toBe(0);
  });

  it("says that there is no such program", async () => {
    expect((await run(["no-such-program"])).status).toBe(127);
  });
});

function fill(folder: string, files: number, bytes = 0): void {
  mkdirSync(folder, { recursive: true });
  for (let n = 0; n < files; n++)
    writeFileSync(join(folder, `${n}`), Buffer.alloc(bytes));
}

describe("a folder that is watched", () => {
  const bounds = { bytes: 10_000, files: 10 };

  it.each<[string, boolean, (folder: string) => void]>([
    ["10 files", false, (at) => fill(at, 10)],
    ["11 files", true, (at) => fill(at, 11)],
    ["10 files in a folder", true, (at) => fill(join(at, "a"), 10)],
    ["11 folders", true, (at) => fill(join(at, "a/b/c/d/e/f/g/h/i/j/k"), 0)],
    ["10 000 bytes", false, (at) => fill(at, 10, 1_000)],
    ["10 001 bytes far below", true, (at) => fill(join(at, "a/b"), 1, 10_001)],
    ["nothing, not even itself", false, () => undefined],
  ])("may hold so much and no larger: %s", async (_, expected, make) => {
    const folder = join(scratch("watched"), "folder");
    make(folder);
    const ending = new AbortController();
    const answer = outgrows(folder, bounds, ending.signal);
    const before = AbortSignal.timeout(expected ? 20_000 : 1_000);
    before.addEventListener("abort", () => ending.abort());
    expect(await answer).toBe(expected);
  });

  it("is found out when it grows later", async () => {
    const folder = join(scratch("watched"), "folder");
    const answer = outgrows(folder, bounds, new AbortController().signal);
    await turn();
    fill(folder, 11);
    expect(await answer).toBe(true);
  });
});

describe("git", () => {
  /** An empty repository, and a git that waits in it. */
  async function wait(hold?: (bytes: number) => Promise<void>) {
    const folder = scratch("git");
    mkdirSync(join(folder, "home"));
    const place = {
      folder,
      path: process.env.PATH ?? "",
      bounds: { memory: 2 ** 29, seconds: 30, bytes: 2 ** 24, files: 100 },
      signal: new AbortController().signal,
      ...(hold && { hold }),
    };
    const init = ["init", "--quiet", "--bare", "--template="];
    await runGit(init, place);
    const ended = runGit(["-c", "alias.wait=!sleep 60", "wait"], place);
    return { objects: join(folder, "repository.git", "objects", "00"), ended };
  }

  it("is ended when there is no room for what its repository has grown to, with that refusal", async () => {
    const sizes: number[] = [];
    const full = refuseForRoom("the module's repository");
    const { objects, ended } = await wait((bytes) => {
      sizes.push(bytes);
      return bytes > 100_000 ? Promise.reject(full) : Promise.resolve();
    });
    const refused = expect(ended).rejects.toBe(full);
    await expect.poll(() => sizes.length).toBeGreaterThan(1);
    fill(objects, 2, 60_000);
    await refused;
    expect(sizes.at(-1)).toBeGreaterThan(120_000);
    expect(sizes[0]).toBeLessThan(10_000);
  });

  it("is ended when its repository has too many files", async () => {
    const { objects, ended } = await wait();
    const refused = expect(ended).rejects.toThrow("it is too large");
    fill(objects, 101);
    await refused;
  });
});
