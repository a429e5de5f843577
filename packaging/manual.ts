import type { Command } from "commander";
import { makeProgram } from "../src/main/program.ts";

/** A command with its help, as `provender COMMAND --help` prints it. */
interface CommandHelp {
  readonly words: readonly string[];
  readonly help: string;
  readonly options: readonly string[];
  readonly below: readonly CommandHelp[];
}

function readHelp(command: Command, words: readonly string[]): CommandHelp {
  return {
    words,
    help: command.configureHelp({ helpWidth: 80 }).helpInformation(),
    options: [...command.options.flatMap(({ long }) => long ?? []), "--help"],
    below: command.commands.map((one) => readHelp(one, [...words, one.name()])),
  };
}

function flatten(command: CommandHelp): readonly CommandHelp[] {
  return [command, ...command.below.flatMap(flatten)];
}

/** provender(1), from what `--help` prints. */
export function makeManual(): string {
  const all = flatten(readHelp(makeProgram(), []));
  const sections = all.map(({ words, help }) => {
    const title = ["provender", ...words].join(" ");
    return `.SS ${quote(title)}\n.nf\n${verbatim(help)}.fi\n`;
  });
  return `.TH PROVENDER 1
.SH NAME
provender \\- caching, verifying mirror for Terraform and OpenTofu
.SH SYNOPSIS
.B provender
.I command
.RI [ option ...]
.SH DESCRIPTION
provender stands between machines and the registries of providers and modules. It checks the signatures of what it
fetches, keeps what it checked, and serves it to everyone else.
.SH COMMANDS
${sections.join("")}.SH FILES
.TP
.I /etc/provender/config.yaml
The configuration. Every key is in /usr/share/doc/provender/config.example.yaml.
.TP
.I /var/lib/provender
What the daemon keeps. Commands that root runs act as its owner.
.SH EXIT STATUS
0 when all was done, 1 when some of it could not be done, 2 for a mistake in arguments or configuration.
.SH SEE ALSO
.BR terraform (1),
.BR systemctl (1)
`;
}

function verbatim(text: string): string {
  return text
    .replaceAll("\\", "\\e")
    .replaceAll("-", "\\-")
    .replace(/^([.'])/gm, "\\&$1");
}

function quote(text: string): string {
  return `"${text.replaceAll("-", "\\-")}"`;
}

/** For bash: commands, then options and files. */
export function makeCompletion(): string {
  const all = flatten(readHelp(makeProgram(), []));
  const cases = all.map(({ words, options, below }) => {
    const names = below.map((command) => command.words.at(-1));
    const offered = [...names, ...options].join(" ");
    return `    ${JSON.stringify(words.join(" "))}) offered=${JSON.stringify(offered)} ;;\n`;
  });
  return `# bash completion of provender
_provender() {
  local word=\${COMP_WORDS[COMP_CWORD]} command="" offered="" at
  for ((at = 1; at < COMP_CWORD; at++)); do
    case "\${command:+$command }\${COMP_WORDS[at]}" in
${all
  .filter(({ words }) => words.length > 0)
  .map(({ words }) => `      ${JSON.stringify(words.join(" "))}`)
  .join(" |\\\n")})
        command="\${command:+$command }\${COMP_WORDS[at]}" ;;
    esac
  done
  case "$command" in
${cases.join("")}  esac
  mapfile -t COMPREPLY < <(compgen -W "$offered" -- "$word")
}
complete -o default -F _provender provender
`;
}
