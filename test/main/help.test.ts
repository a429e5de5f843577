import type { Command } from "commander";
import { describe, expect, it } from "vitest";
import { makeProgram } from "../../src/main/program.ts";
import { runHere } from "../running-here.ts";

interface Named {
  readonly words: string;
  readonly command: Command;
}

/** Every command that does something. */
function listLeaves(command: Command, words = ""): readonly Named[] {
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

describe("--help", () => {
  it.each(leaves)(
    "of $words has examples that it understands, and the exit status",
    ({ words, command }) => {
      expect(command.description()).not.toBe("");
      const help = helpOf(command);
      expect(help).toMatch(
        /\nExit status:\n {2}0 done\n {2}1 \S.*\n {2}2 a mistake/,
      );
      const [, examples = ""] = help.split("\nExamples:\n");
      const typed = [
        ...examples.matchAll(/^ {2}(?:source <\()?provender (.+?)\)?$/gm),
      ];
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
});

it.each(["hash x", "store push x", "audit --verify", "config check x"])(
  "%s, which earlier versions had, says what to do instead",
  async (typed) => {
    const { status, stderr } = await runHere(typed.split(" "));
    expect(status).toBe(2);
    expect(stderr).toMatch(/: it is there no longer: \S/);
  },
);
