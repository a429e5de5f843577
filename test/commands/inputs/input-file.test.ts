import { mkdirSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import {
  readInputBytes,
  readInputFile,
} from "../../../src/commands/inputs/input-file.ts";
import { failing } from "../../scenes/failing.ts";
import { scratch } from "../../running-mirror.ts";

const most = 1024 * 1024;
const large = `it has ${most + 1} bytes, expected at most ${most}: look which file this is.`;

function writeLarge(path: string): void {
  writeFileSync(path, "");
  truncateSync(path, most + 1);
}

it.each<[string, (path: string) => void, string]>([
  [
    "is not there",
    () => undefined,
    "it cannot be read (ENOENT): check the path and its permissions.",
  ],
  ["is too large", writeLarge, large],
  ["is a folder", mkdirSync, "it is not a file: give the path of one."],
])(
  "a file that %s is refused with the cure of that",
  async (_, make, problem) => {
    const path = join(scratch("input"), "versions.tf");
    make(path);
    const reading = readInputFile(path);
    await expect(reading).rejects.toThrow(failing("input"));
    await expect(reading).rejects.toThrow(`${path}: ${problem}`);
  },
);

it("bytes of an archive have no path whose permissions could be checked", () => {
  const bytes = Buffer.alloc(most + 1);
  const path = "a package//main.tf";
  expect(() => readInputBytes(path, bytes)).toThrow(`${path}: ${large}`);
});
