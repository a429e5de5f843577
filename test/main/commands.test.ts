import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Command } from "commander";
import { expect, it } from "vitest";
import { makeProgram } from "../../src/main/program.ts";
import { commandsSchema, expectDocument } from "../commands/documents.ts";
import { makeStorage } from "../commands/storage.ts";
import { runHere } from "../running-here.ts";

/** Every command that does something. */
function listLeaves(
  command: Command,
  words = "",
): readonly { readonly words: string; readonly command: Command }[] {
  return command.commands.length === 0
    ? [{ words, command }]
    : command.commands.flatMap((one) =>
        listLeaves(one, `${words} ${one.name()}`.trim()),
      );
}

const leaves = listLeaves(makeProgram());

function helpOf(command: Command): string {
  let text = "";
  command
    .configureOutput({ writeOut: (part) => void (text += part) })
    .outputHelp();
  return text;
}

it.each(leaves)(
  "--help of $words has examples that it understands, and the exit status",
  ({ words, command }) => {
    expect(command.description()).not.toBe("");
    const help = helpOf(command);
    expect(help).toMatch(
      /\nExit status:\n {2}0 done\n {2}1 \S.*\n {2}2 a mistake/,
    );
    const [, examples = ""] = help.split("\nExamples:\n");
    const typed = [...examples.matchAll(/^ {2}provender (.+)$/gm)];
    expect(typed.length).toBeGreaterThan(0);
    for (const [, line = ""] of typed) {
      expect(line).toMatch(new RegExp(`^${words}(?: |$)`));
      const [said = ""] = line.slice(words.length).split(" > ");
      const args = said.match(/"[^"]*"|\S+/g) ?? [];
      const { operands, unknown } = command.parseOptions(args);
      expect(unknown).toEqual([]);
      const needed = command.registeredArguments.filter(
        ({ required }) => required,
      );
      expect(operands.length).toBeGreaterThanOrEqual(needed.length);
    }
  },
);

it.each(
  leaves.filter(({ command }) =>
    command.options.some(({ long }) => long === "--json"),
  ),
)(
  "what $words prints with --json is documented with its fields",
  ({ words }) => {
    const page = readFileSync(
      join(import.meta.dirname, "..", "..", "docs", "commands-json.md"),
      "utf8",
    );
    const row = page
      .split("\n")
      .find((line) => line.includes(`\`provender ${words}\``));
    const { properties } = commandsSchema.$defs[words] ?? {};
    const [, ...fields] = Object.keys(properties ?? {});
    expect(row?.match(/`(\w+)`/g)).toEqual(fields.map((name) => `\`${name}\``));
  },
);

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

it.each(["hash x", "store push x", "audit --verify", "config check x"])(
  "%s, which earlier versions had, says what to do instead",
  async (typed) => {
    const { status, stderr } = await runHere(typed.split(" "));
    expect(status).toBe(2);
    expect(stderr).toMatch(/: it is there no longer: \S/);
  },
);
