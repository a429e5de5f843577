import type { Command } from "commander";

/** A command as its users see it, with those below it. */
interface DescribedCommand {
  /** Such as `trust list`, without the program's name. */
  readonly words: string;
  readonly name: string;
  readonly description: string;
  readonly options: readonly DescribedOption[];
  readonly below: readonly DescribedCommand[];
}

interface DescribedOption {
  /** Name of the option, with its dashes. */
  readonly flag: string;
  readonly description: string;
  readonly takesValue: boolean;
  readonly choices: readonly string[];
}

const help: DescribedOption = {
  flag: "--help",
  description: "display help for command",
  takesValue: false,
  choices: [],
};

/** The command and all below it, each before what is below it. */
export function describeCommands(
  program: Command,
): readonly DescribedCommand[] {
  return flatten(describe(program, []));
}

function describe(
  command: Command,
  words: readonly string[],
): DescribedCommand {
  const options = command.options.map((option) => ({
    flag: option.long ?? "",
    description: option.description,
    takesValue: option.required || option.optional,
    choices: option.argChoices ?? [],
  }));
  return {
    words: words.join(" "),
    name: command.name(),
    description: command.description(),
    options: [...options, help],
    below: command.commands.map((one) => describe(one, [...words, one.name()])),
  };
}

function flatten(command: DescribedCommand): readonly DescribedCommand[] {
  return [command, ...command.below.flatMap(flatten)];
}
