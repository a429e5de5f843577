import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import { expect, it } from "vitest";
import { parseHcl } from "../../../src/commands/inputs/parser.ts";
import {
  readInputBytes,
  readInputFile,
} from "../../../src/commands/inputs/input-file.ts";
import { scratch } from "../../running-mirror.ts";

const secret = "hunter2-and-more";

it.each([
  ["main.tf.json", `{"token": ${secret}}`],
  ["main.tf", `token = ${secret} ${secret}\n`],
  ["main.tf", `a = "\\${secret}"\n`],
  ["main.tf", `hunter2 = 1\nhunter2 = 2\n`],
  ["main.tf", `a = <<hunter2\n`],
])(
  "what is wrong with %s is told without a word of it: %s",
  async (...file) => {
    await expect(parseHcl(...file)).rejects.toThrow(
      /^main\.tf(?:\.json)?(?::\d)?: (?![^]*hunter2)[A-Z\w]/,
    );
  },
);

it("others go on while a file is parsed that takes minutes", async () => {
  // A second at 16 KiB, and four times as much at twice as many.
  const hostile = `a = "${"$".repeat(256 * 1024)}"\n`;
  const pending = parseHcl("a.tf", hostile);
  const turns = async () => {
    for (let count = 0; count < 1_000; count++) await turn();
    return "the others";
  };
  const parsed = pending.catch(() => "the parser");
  expect(await Promise.race([parsed, turns()])).toBe("the others");
});

const most = 1024 * 1024;
const large = Buffer.alloc(most + 1);
const tooLarge = `it has ${most + 1} bytes, expected at most ${most}: look which file this is.`;

it.each<[string, (path: string) => void, string]>([
  ["is not there", () => undefined, "it cannot be read (ENOENT): check the"],
  ["is too large", (path) => writeFileSync(path, large), tooLarge],
  ["is a folder", mkdirSync, "it is not a file: give the path of one."],
])("a file that %s is refused with the cure of that", async (...row) => {
  const [, make, problem] = row;
  const path = join(scratch("input"), "versions.tf");
  make(path);
  await expect(readInputFile(path)).rejects.toThrow(`${path}: ${problem}`);
});

it("bytes of an archive have no path whose permissions could be checked", () => {
  expect(() => readInputBytes("a package//main.tf", large)).toThrow(
    `a package//main.tf: ${tooLarge}`,
  );
});
