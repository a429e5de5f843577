import type { Command } from "commander";
import { failure } from "../errors/index.ts";
import type { Output } from "../commands/output/report.ts";
import { output } from "./output.ts";

/** Flags of nearly every command. */
export interface Flags {
  readonly config?: string;
  readonly json?: boolean;
}

/** Flags of commands that ask a running mirror where one is named. */
export interface MirrorFlags extends Flags {
  readonly mirror?: string;
  readonly ca?: string;
}

/** Flags of commands that ask the mirror that `--mirror` names. */
export interface ElsewhereFlags extends Flags {
  readonly mirror: string;
  readonly ca?: string;
}

/** Runs a command with its arguments by name and its flags. Returns the exit status. */
export type Run = (input: never, output: Output) => number | Promise<number>;

/** Returns the action of a command, whose function is loaded when it runs. */
export function run(load: () => Promise<Run>) {
  return async (...args: readonly unknown[]): Promise<void> => {
    const command = args.at(-1) as Command;
    const input: Record<string, unknown> = { ...command.opts() };
    for (const [place, one] of command.registeredArguments.entries())
      input[one.name()] = args[place];
    const start = await load();
    process.exitCode = await start(input as never, output);
  };
}

export function refuseLoneAuthority({ mirror, ca }: MirrorFlags): void {
  if (mirror === undefined && ca !== undefined)
    throw failure(
      "configuration",
      "--ca",
      "it is for --mirror only",
      "leave it out",
    );
}

/** Collects the values of a repeatable option. */
export function collect(
  value: string,
  values: readonly string[] = [],
): readonly string[] {
  return [...values, value];
}

/** Adds the option of every command that reads the configuration. */
export function withConfig(command: Command): Command {
  return command.option(
    "--config <file>",
    "configuration file (default: $PROVENDER_CONFIG, ./provender.yaml, /etc/provender/config.yaml)",
  );
}
