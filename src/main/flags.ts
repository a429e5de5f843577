import type { Command } from "commander";

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
