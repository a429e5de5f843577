import { setImmediate as turn } from "node:timers/promises";
import { expect, it } from "vitest";
import { parseHcl } from "../../../src/commands/inputs/parser.ts";

const secret = "hunter2-and-more";

it.each([
  ["main.tf.json", secret],
  ["main.tf.json", `{"token": ${secret}}`],
  ["main.tf", `${secret}\n`],
  ["main.tf", `token = ${secret} ${secret}\n`],
  ["main.tf", `a = "\\${secret}"\n`],
  ["main.tf", `hunter2 = 1\nhunter2 = 2\n`],
  ["main.tf", `a = <<hunter2\n`],
])(
  "what is wrong with %s is told without a word of it: %s",
  async (...file) => {
    const reading = parseHcl(...file);
    await expect(reading).rejects.toThrow(
      /^main\.tf(?:\.json)?(?::\d)?: (?![^]*hunter2)[A-Z\w]/,
    );
  },
);

it("others go on while a file is parsed that takes minutes", async () => {
  const pending = parseHcl("a.tf", hostile(256));
  const first = await Promise.race([
    pending.catch(() => "the parser"),
    countTurns(1_000),
  ]);
  expect(first).toBe(1_000);
});

/** Kibibytes of an open question, for which the parser takes a second at 16 and four times as much at twice as many. */
function hostile(kibibytes: number): string {
  return `a = "${"$".repeat(kibibytes * 1024)}"\n`;
}

async function countTurns(count: number): Promise<number> {
  for (let turns = 0; turns < count; turns++) await turn();
  return count;
}
