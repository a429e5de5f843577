import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  statSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { scratch } from "../running-mirror.ts";

const main = join(import.meta.dirname, "..", "..", "src", "main.ts");

function run(env: Readonly<Record<string, string>>): void {
  execFileSync(process.execPath, [main, "--version"], { env });
}

describe("compiled code", () => {
  it("is kept in the user's cache, where no other user can write", () => {
    const home = scratch("home");
    run({ HOME: home });
    const folder = join(home, ".cache", "provender-code");
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    expect(readdirSync(folder)).toHaveLength(1);
  });

  it("is not taken from a folder that others can write to", () => {
    const cache = scratch("cache");
    const folder = join(cache, "provender-code");
    mkdirSync(folder);
    chmodSync(folder, 0o777);
    run({ XDG_CACHE_HOME: cache });
    expect(readdirSync(folder)).toEqual([]);
  });

  it("is done without where no folder can be made", () => {
    const home = join(scratch("home"), "nobody");
    run({ HOME: home });
    expect(existsSync(home)).toBe(false);
    run({ XDG_CACHE_HOME: "/proc" });
  });
});
