import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Command } from "commander";
import { describe, expect, it } from "vitest";
import { makeProgram } from "../../src/main/program.ts";
import { runCommand } from "../running-command.ts";
import { scratch } from "../running-mirror.ts";

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

  it("says in one page what each command is for", async () => {
    const { stdout } = await runCommand(["--help"]);
    for (const { name, text } of makeProgram().commands.map((one) => ({
      name: one.name(),
      text: one.description(),
    }))) {
      expect(text).not.toBe("");
      expect(stdout).toContain(name);
    }
  });
});

/** Completes the last of the words in a shell; undefined where it is not installed. */
const shells: Readonly<
  Record<
    string,
    (script: string, words: readonly string[]) => string | undefined
  >
> = {
  bash: (script, words) =>
    run("bash", [
      ...[
        "-c",
        `source ${script}; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _provender; printf '%s\\n' "\${COMPREPLY[@]}"`,
      ],
      ...["-", ...words],
    ]),
  // Its own words for the screen are left out: what is offered is caught.
  zsh: (script, words) =>
    run("zsh", [
      ...[
        "-fc",
        `compdef() { :; }; source ${script}; _files() { :; }; _describe() { print -rl -- \${\${(P)2}%%:*}; }; words=("$@"); CURRENT=$#; _provender`,
      ],
      ...["-", ...words],
    ]),
  fish: (script, words) =>
    run("fish", [
      "-c",
      `source ${script}; complete -C ${JSON.stringify(words.join(" "))}`,
    ]),
};

function run(shell: string, args: readonly string[]): string | undefined {
  const home = scratch("shell-home");
  const env = { PATH: process.env.PATH, HOME: home };
  const { error, stdout, stderr } = spawnSync(shell, args, { env });
  if (error !== undefined) return undefined;
  expect(String(stderr)).toBe("");
  return String(stdout);
}

describe.each(Object.keys(shells))("provender completion %s", (shell) => {
  const isThere = spawnSync(shell, ["-c", "true"]).error === undefined;
  if (!isThere) console.log(`SKIPPED: ${shell} is not installed`);

  it.runIf(isThere)(
    "offers commands, those below them, and their options",
    async () => {
      const { stdout, status } = await runCommand(["completion", shell]);
      expect(status).toBe(0);
      const script = join(scratch("completion"), "script");
      writeFileSync(script, stdout);
      const offered = (...words: readonly string[]) =>
        (shells[shell]?.(script, ["provender", ...words]) ?? "")
          .split("\n")
          .map((line) => line.split("\t")[0]?.trim() ?? "");
      expect(offered("")).toEqual(
        expect.arrayContaining(makeProgram().commands.map((one) => one.name())),
      );
      expect(offered("trust", "")).toEqual(
        expect.arrayContaining(["list", "approve", "revoke", "reset"]),
      );
      for (const { words, command } of leaves)
        expect(offered(...words.split(" "), "--")).toEqual(
          expect.arrayContaining(command.options.map(({ long }) => long)),
        );
      expect(offered("trust", "list", "--")).not.toContain("--key");
    },
  );
});

it("completion has status 2 for a shell that it does not know", async () => {
  const { status, stderr } = await runCommand(["completion", "csh"]);
  expect(status).toBe(2);
  expect(stderr).toContain("bash, zsh, fish");
});
