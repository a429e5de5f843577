import type { Command } from "commander";

/**
 * Guides of the commands that do something: the words of the command, the
 * situation in which its exit status is 1, and command lines with their purpose.
 */
const guides = `
serve: it cannot listen or use its store
  provender serve  # with ./provender.yaml, where there is one
  provender serve --config mirror.yaml  # with another file
config: the program itself failed
  provender config  # reads every file that it names, and shows no secret
trust list: a record cannot be read
  provender trust list  # what needs a decision
  provender trust list --all  # every key and decision
  provender trust list --json  # for programs
trust approve: it is approved already, cannot be, or would touch nothing
  provender trust approve acme/net@1.2.0 0123456789abcdef --because "asked them"  # exactly this content
  provender trust approve acme/net@1.2.0  # its only content that needs a decision
  provender trust approve acme/network/aws@1.2.0 0123456789abcdef  # exactly this archive or commit of a module
  provender trust approve --key FINGERPRINT --for acme/net  # what this key signs for one provider
trust revoke: it is revoked already, or there is no such content
  provender trust revoke acme/net@1.2.0  # its only content, whoever signs it
  provender trust revoke --key FINGERPRINT --for acme  # refuses what this key signs in a namespace
trust forget: nothing is decided on it
  provender trust forget acme/net@1.2.0  # what was decided on a content
  provender trust forget --key FINGERPRINT --for acme  # what was decided on a key for a namespace
token: the program itself failed
  provender token ci --expires 2027-01-31  # a token and its line
client-config: there is no CA yet
  provender client-config  # blocks for ~/.terraformrc, and how to trust the CA
  provender client-config --github  # a step of a workflow
  provender client-config --pem > ca.pem  # the CA alone
audit: the program itself failed
  provender audit --since 12h hashicorp/aws  # who got or was refused it
  provender audit -n 20  # the newest
  provender audit --follow  # what happens from now on
status: the mirror does not run or is not ready, or something needs a person
  provender status  # of this machine's daemon
doctor: a check fails
  provender doctor  # on the mirror's machine
  provender doctor --mirror https://mirror.example.com --ca ca.pem  # on a client's; the token is that of TF_TOKEN_…
explain: clients do not get all of it
  provender explain hashicorp/aws@5.0.0  # why it is served or not
prefetch: something could not be had, and each such thing is named
  provender prefetch hashicorp/aws@latest:3  # the newest three
  provender prefetch --platform linux_amd64 --directory ./infrastructure  # what is locked or required there, with its modules
  provender prefetch --module acme/network/aws  # and what it calls
  provender prefetch --check --directory ./infrastructure  # what would not survive an outage
lock: something is missing or could not be found out
  provender lock --platform linux_amd64 --platform darwin_arm64  # the lock file here
  provender lock --check --mirror https://mirror.example.com app  # whether one is complete, for CI
export: something could not be had, and each such thing is named
  provender export --to week2.tar --since week1.tar hashicorp/aws  # for \`provender import\`
  provender export --to /srv/providers hashicorp/aws  # a tree
import: the bundle is refused
  provender import week2.tar  # beside a running daemon, too
list: a record is damaged
  provender list  # everything
  provender list --all hashicorp/aws  # its packages
  provender list hashicorp/aws@>=5.0 --json  # some, for programs
verify: something bad was found and is still there
  provender verify  # changes nothing
  provender verify --repair  # drops what is bad
prune: more is stored than may be
  provender prune --dry-run  # what would leave
  provender prune hashicorp/aws@5.0.0  # to have it fetched again
backup: the file is there already or cannot be written
  provender backup /srv/backup/provender.db  # put it back as provender.db, while no daemon runs
`;

/** Adds examples and exit status to the help of every command. */
export function addExamples(program: Command): void {
  program.addHelpText("afterAll", ({ command }) => {
    const guide = new RegExp(`^${wordsOf(command)}: (.*)\n((?: .*\n)+)`, "m");
    const [, fails = "", examples = ""] = guide.exec(guides) ?? [];
    const isServer = wordsOf(command) === "serve";
    return fails === "" ? "" : format(fails, examples, isServer);
  });
}

/** Such as `trust list`, without the program's name. */
function wordsOf(command: Command): string {
  const { parent } = command;
  return parent === null ? "" : `${wordsOf(parent)} ${command.name()}`.trim();
}

function format(fails: string, examples: string, isServer: boolean): string {
  const lines = examples.replaceAll(/^ {2}(.*) {2}# (.*)$/gm, "  # $2\n  $1");
  return `\nExamples:\n${lines}\nExit status:\n  0 done\n  1 ${fails}\n  2 a mistake in arguments or configuration${isServer ? "" : "\n  130 ended by Ctrl-C"}`;
}
