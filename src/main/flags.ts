import type { Command } from "commander";
import { failure } from "../errors/index.ts";
import type { Output } from "../commands/output/report.ts";

/** Output streams of this process. */
export const output: Output = {
  stdout: (text) => void process.stdout.write(text),
  stderr: (text) => void process.stderr.write(text),
};

/** Resolves when the text was taken, with false when it has no reader any longer. */
export function print(text: string): Promise<boolean> {
  return new Promise((resolve) =>
    process.stdout.write(text, (error) => resolve(error == null)),
  );
}

/** Aborted by the first SIGINT or SIGTERM, so that work ends in order; a second one ends the process. */
export function untilStopped(): AbortSignal {
  const stop = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const)
    process.once(signal, () => stop.abort());
  return stop.signal;
}

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
