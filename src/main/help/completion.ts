import type { Command } from "commander";
import { describeCommands } from "./described.ts";

export type Shell = keyof typeof makers;

type Commands = ReturnType<typeof describeCommands>;

/** Completion scripts by shell, made from the program's own description. */
const makers = { bash: makeBash, zsh: makeZsh, fish: makeFish } as const;

/** A script for the shell to read, which completes commands, options and files. */
export function makeCompletion(program: Command, shell: Shell): string {
  return makers[shell](describeCommands(program));
}

function makeBash(commands: Commands): string {
  const cases = commands.map(({ words, options, below }) => {
    const flags = options.map(({ flag }) => flag);
    const offered = [...below.map(({ name }) => name), ...flags].join(" ");
    return `    ${JSON.stringify(words)}) offered=${JSON.stringify(offered)} ;;\n`;
  });
  return `# bash completion of provender
_provender() {
  local word=\${COMP_WORDS[COMP_CWORD]} command="" offered="" at
  for ((at = 1; at < COMP_CWORD; at++)); do
    case "\${command:+$command }\${COMP_WORDS[at]}" in
      ${listWords(commands)
        .map((words) => JSON.stringify(words))
        .join(" |\\\n      ")})
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

function makeZsh(commands: Commands): string {
  const cases = commands.map(({ words, options, below }) => {
    const offered = [
      ...below.map(({ name, description }) => [name, description]),
      ...options.map(({ flag, description }) => [flag, description]),
    ].map(([name, description = ""]) =>
      quote(`${name}:${description.replaceAll(":", "\\:")}`),
    );
    return `    (${quote(words)}) offered=(\n      ${offered.join("\n      ")}\n    ) ;;\n`;
  });
  return `#compdef provender
# zsh completion of provender
_provender() {
  local command="" at
  local -a offered
  for ((at = 2; at < CURRENT; at++)); do
    case "\${command:+$command }\${words[at]}" in
      (${listWords(commands).map(quote).join("|")})
        command="\${command:+$command }\${words[at]}" ;;
    esac
  done
  case "$command" in
${cases.join("")}  esac
  _describe provender offered
  _files
}
if [ "$funcstack[1]" = "_provender" ]; then
  _provender "$@"
else
  compdef _provender provender
fi
`;
}

function makeFish(commands: Commands): string {
  const lines = commands.flatMap(({ words, options, below }) => {
    const at = `complete -c provender -n ${quote(`__provender_at ${words}`.trim())}`;
    return [
      ...below.map(
        ({ name, description }) =>
          `${at} -a ${quote(name)} -d ${quote(description)}`,
      ),
      ...options.map(({ flag, description, takesValue, choices }) => {
        const value = takesValue ? " -r" : "";
        const given =
          choices.length > 0 ? ` -f -a ${quote(choices.join(" "))}` : "";
        return `${at} -l ${flag.slice(2)}${value}${given} -d ${quote(description)}`;
      }),
    ];
  });
  return `# fish completion of provender
function __provender_at
  set -l found
  for word in (commandline -opc)[2..]
    if contains -- (string join ' ' $found $word) ${listWords(commands).map(quote).join(" ")}
      set found $found $word
    end
  end
  test "$found" = "$argv"
end
${lines.join("\n")}
`;
}

function listWords(commands: Commands): readonly string[] {
  return commands.map(({ words }) => words).filter((words) => words !== "");
}

/** Quotes text for all three shells. */
function quote(text: string): string {
  return `'${text.replaceAll("'", `'"'"'`)}'`;
}
