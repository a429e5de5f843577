import { truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import {
  readInputBytes,
  readInputFile,
} from "../../../src/commands/inputs/input-file.ts";
import { failing } from "../../scenes/failing.ts";
import { scratch } from "../../running-mirror.ts";

const most = 1024 * 1024;

it.each<[string, (path: string) => void, string]>([
  [
    "is not there",
    () => undefined,
    "it cannot be read (ENOENT): check the path and its permissions.",
  ],
  [
    "is too large",
    (path) => {
      writeFileSync(path, "");
      truncateSync(path, most + 1);
    },
    `it has ${most + 1} bytes, expected at most ${most}: look which file this is.`,
  ],
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

it("a folder in the place of a file is refused with the cure of that", async () => {
  const path = scratch("input");
  await expect(readInputFile(path)).rejects.toThrow(
    `${path}: it is not a file: give the path of one.`,
  );
});

it("bytes of an archive have no path whose permissions could be checked", () => {
  const large = Buffer.alloc(most + 1);
  expect(() => readInputBytes("a package//main.tf", large)).toThrow(
    `a package//main.tf: it has ${most + 1} bytes`,
  );
});
