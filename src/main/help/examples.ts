import type { Command } from "commander";

interface Guide {
  /** Command lines, each with its purpose. */
  readonly examples: readonly (readonly [string, string])[];
  /** Situation in which its exit status is 1. */
  readonly fails: string;
}

const workLeft = "something could not be had, and each such thing is named";

/** Guides by the words of each command that does something. */
const guides: Readonly<Record<string, Guide>> = {
  serve: {
    examples: [
      ["provender serve", "with ./provender.yaml, where there is one"],
      ["provender serve --config mirror.yaml", "with another file"],
    ],
    fails: "it cannot listen or use its store",
  },
  "config check": {
    examples: [
      ["provender config check", "reads every file that it names, too"],
      ["provender config check --explain acme/net@1.2.0", "which rule decides"],
    ],
    fails: "the program itself failed",
  },
  "config show": {
    examples: [["provender config show", "with all defaults"]],
    fails: "the program itself failed",
  },
  "trust list": {
    examples: [
      ["provender trust list", "for people"],
      ["provender trust list --json", "for programs"],
    ],
    fails: "a record cannot be read, or was lost",
  },
  "trust approve": {
    examples: [
      [
        'provender trust approve acme/net@1.2.0 --sha256sums 0123456789abcdef --because "asked them"',
        "exactly this content",
      ],
      [
        "provender trust approve acme/net@1.2.0",
        "its only content that needs a decision",
      ],
      [
        "provender trust approve acme/network/aws@1.2.0 --sha256sums 0123456789abcdef",
        "exactly this archive or commit of a module",
      ],
      [
        "provender trust approve --key FINGERPRINT --for acme/net",
        "what this key signs for one provider",
      ],
    ],
    fails: "it is approved already, cannot be, or touches nothing",
  },
  "trust revoke": {
    examples: [
      [
        "provender trust revoke acme/net@1.2.0",
        "removes the approval of a content",
      ],
      [
        "provender trust revoke --key FINGERPRINT --for acme",
        "refuses what this key signs in a namespace",
      ],
    ],
    fails: "there is no such approval, or it touches nothing",
  },
  "trust reset": {
    examples: [
      ["provender trust reset acme/net", "one provider"],
      ["provender trust reset acme", "all providers of a namespace"],
      ["provender trust reset acme/network/aws", "a module's list of versions"],
    ],
    fails: "nothing of it was ever seen, or a module's list was not lost",
  },
  "token new": {
    examples: [
      ["provender token new ci --expires 2027-01-31", "a token and its line"],
    ],
    fails: "the program itself failed",
  },
  ca: {
    examples: [
      ["provender ca > ca.pem", "says on standard error how to use it"],
    ],
    fails: "there is no CA yet",
  },
  audit: {
    examples: [
      [
        "provender audit --since 12h hashicorp/aws",
        "who got or was refused it",
      ],
      ["provender audit --event refused --json", "for programs"],
      ["provender audit --verify", "whether the log was changed"],
      [
        "provender audit --verify --head 5c1e…",
        "and whether it still has a line that was its last one",
      ],
    ],
    fails: "with --verify: a log is not what was written",
  },
  status: {
    examples: [
      ["provender status", "of this machine's daemon"],
      [
        "provender status --mirror https://mirror.example.com:8443 --json",
        "of another one",
      ],
    ],
    fails: "the mirror does not run or is not ready",
  },
  doctor: {
    examples: [
      ["provender doctor", "on the mirror's machine"],
      [
        "provender doctor --mirror https://mirror.example.com --ca ca.pem",
        "on a client's; the token is that of TF_TOKEN_…",
      ],
    ],
    fails: "a check fails",
  },
  explain: {
    examples: [
      ["provender explain hashicorp/aws@5.0.0", "why it is served or not"],
    ],
    fails: "clients do not get all of it",
  },
  hash: {
    examples: [
      ["provender hash terraform-provider-null_3.2.4_linux_amd64.zip", "both"],
    ],
    fails: "an archive could not be hashed",
  },
  prefetch: {
    examples: [
      ["provender prefetch hashicorp/aws@latest:3", "the newest three"],
      [
        "provender prefetch --platform linux_amd64 --directory ./infrastructure",
        "what is locked or required there, with its modules",
      ],
      ["provender prefetch --module acme/network/aws", "and what it calls"],
      [
        "provender prefetch --check --directory ./infrastructure",
        "what would not survive an outage",
      ],
    ],
    fails: workLeft,
  },
  lock: {
    examples: [
      [
        "provender lock --platform linux_amd64 --platform darwin_arm64",
        "the lock file here",
      ],
      [
        "provender lock --check --mirror https://mirror.example.com app",
        "whether one is complete, for CI",
      ],
    ],
    fails: "something is missing or could not be found out",
  },
  export: {
    examples: [
      [
        "provender export --bundle week2.tar --since week1.tar hashicorp/aws",
        "for `provender import`",
      ],
      ["provender export --to /srv/providers hashicorp/aws", "a tree"],
    ],
    fails: workLeft,
  },
  import: {
    examples: [["provender import week2.tar", "beside a running daemon, too"]],
    fails: "the bundle is refused",
  },
  publish: {
    examples: [["provender publish dist --to /srv/providers", "one release"]],
    fails: "the release is refused",
  },
  list: {
    examples: [
      ["provender list", "everything"],
      ["provender list hashicorp/aws@>=5.0 --json", "some, for programs"],
    ],
    fails: "a record is damaged",
  },
  purge: {
    examples: [
      ["provender purge hashicorp/aws@5.0.0", "to have it fetched again"],
      ["provender purge hashicorp/consul/aws", "of a module, every version"],
    ],
    fails: "nothing of it is stored",
  },
  compare: {
    examples: [
      ["provender compare --with https://mirror.site-b.example", "everything"],
      [
        "provender compare --with https://mirror.site-b.example hashicorp/aws",
        "one provider",
      ],
    ],
    fails: "some differ, or could not be compared for a failure",
  },
  verify: {
    examples: [
      ["provender verify", "changes nothing"],
      ["provender verify --repair", "drops what is bad"],
    ],
    fails: "something bad was found and is still there",
  },
  prune: {
    examples: [
      ["provender prune --dry-run", "what would leave"],
      ["provender prune --bucket", "of what all replicas share"],
    ],
    fails: "more is stored than may be",
  },
  "store push": {
    examples: [
      [
        "provender store push",
        "before replicas begin, with the daemon stopped",
      ],
      ["provender store push --json", "again: writes nothing"],
    ],
    fails: "the bucket has another of something, or something is bad",
  },
  completion: {
    examples: [
      ["source <(provender completion bash)", "in ~/.bashrc; zsh likewise"],
      [
        "provender completion fish > ~/.config/fish/completions/provender.fish",
        "for fish",
      ],
    ],
    fails: "the program itself failed",
  },
};

/** Adds examples and exit status to the help of every command. */
export function addExamples(program: Command): void {
  program.addHelpText("afterAll", ({ command }) => {
    const guide = guides[wordsOf(command)];
    return guide === undefined ? "" : format(guide);
  });
}

/** Such as `trust list`, without the program's name. */
function wordsOf(command: Command): string {
  const { parent } = command;
  return parent === null ? "" : `${wordsOf(parent)} ${command.name()}`.trim();
}

function format({ examples, fails }: Guide): string {
  const lines = examples.map(([typed, what]) => `  # ${what}\n  ${typed}\n`);
  return `\nExamples:\n${lines.join("")}\nExit status:\n  0 done\n  1 ${fails}\n  2 a mistake in arguments or configuration`;
}
