import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Command } from "commander";
import { expect, it } from "vitest";
import { makeProgram } from "../../src/main/program.ts";
import { commandsSchema, expectDocument } from "../commands/documents.ts";
import { makeStorage } from "../commands/storage.ts";
import { runHere } from "../running-here.ts";

/** The words of every command that takes `--json`. */
function listSpeaking(command: Command, words: string): readonly string[] {
  const below = command.commands.flatMap((one) =>
    listSpeaking(one, `${words} ${one.name()}`.trim()),
  );
  const speaks = command.options.some(({ long }) => long === "--json");
  return speaks ? [words, ...below] : below;
}

it.each([
  ["prune", "known/nothing", 1, "nothing-held"],
  ["list", "known", 2, "malformed-address"],
] as const)(
  "--json prints a document also where nothing comes of it: %s %s",
  async (command, spec, status, code) => {
    const config = ["--config", makeStorage({}).configFile];
    const run = await runHere([command, ...config, spec, "--json"]);
    expect(expectDocument("error", run.stdout)).toMatchObject({
      error: { code, message: run.stderr.replace(/^provender: |\n$/g, "") },
    });
    expect(run.status).toBe(status);
  },
);

it.each(listSpeaking(makeProgram(), ""))(
  "what %s prints with --json is documented with its fields",
  (words) => {
    const docs = join(import.meta.dirname, "..", "..", "docs");
    const page = readFileSync(join(docs, "commands-json.md"), "utf8");
    const row = page
      .split("\n")
      .find((line) => line.includes(`\`provender ${words}\``));
    const { properties } = commandsSchema.$defs[words] ?? {};
    const [, ...fields] = Object.keys(properties ?? {});
    expect(row?.match(/`(\w+)`/g)).toEqual(fields.map((name) => `\`${name}\``));
  },
);
