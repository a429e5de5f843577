import type { Command } from "commander";
import { makeProgram } from "../src/main/program.ts";

/** The words of each command, and what its `--help` prints. */
export function listHelp(
  command: Command = makeProgram(),
  words = "provender",
): readonly { readonly words: string; readonly help: string }[] {
  let help = "";
  command
    .configureHelp({ helpWidth: 80 })
    .configureOutput({ writeOut: (text) => void (help += text) })
    .outputHelp();
  const below = command.commands.flatMap((one) =>
    listHelp(one, `${words} ${one.name()}`),
  );
  return [{ words, help }, ...below];
}

/** provender(1), from what `--help` prints. */
export function makeManual(): string {
  const all = listHelp();
  const sections = all.map(({ words, help }) => {
    return `.SS ${quote(words)}\n.nf\n${verbatim(help)}.fi\n`;
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
