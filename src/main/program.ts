import { Command, CommanderError } from "commander";
import { version } from "../commands/version.ts";
import { failure } from "../errors/index.ts";
import { addExamples } from "./examples.ts";
import { addOperation, addPackages, addStore } from "./commands.ts";

/** Exit status for a mistake in the arguments. */
const misused = 2;

/** Runs the command that the arguments name and sets the exit status. What a command needs is loaded when it runs. */
export async function runProgram(): Promise<void> {
  process.stdout.on("error", stopSpeaking);
  process.stderr.on("error", () => undefined);
  const asked: { json?: boolean } = {};
  const program = makeProgram().hook("preAction", (_, command) => {
    Object.assign(asked, command.opts());
  });
  try {
    refuseRemoved(process.argv.slice(2));
    await program.parseAsync();
  } catch (error) {
    const { reportFailure } = await import("../commands/output/report.ts");
    process.exitCode =
      error instanceof CommanderError
        ? error.exitCode && misused
        : reportFailure(error, asked.json === true);
  }
}

export function makeProgram(): Command {
  const program = new Command("provender")
    .description(
      "A caching, verifying mirror for Terraform and OpenTofu providers and modules",
    )
    .version(version)
    .exitOverride();
  addOperation(program);
  addPackages(program);
  addStore(program);
  addExamples(program);
  return program;
}

/** What was typed of earlier versions, and what takes its place. */
const removed: Readonly<Record<string, string>> = {
  hash: 'compute hashes with "terraform providers lock", or look at them with "provender list --json"',
  ca: 'use "provender client-config --pem"',
  compare: 'compare the output of "provender list --json" on both sides',
  publish: "copy what goreleaser made to NAMESPACE/TYPE/VERSION/ of the folder",
  purge: 'use "provender prune SPEC"',
  completion: "leave it out of the shell's configuration",
  store: "let each replica fetch what it is asked for",
  "prefetch --list":
    'give what is in it as arguments: "xargs provender prefetch < FILE"',
  "export --list":
    'give what is in it as arguments: "xargs provender export --to FILE.tar < FILE"',
  "export --bundle": "use --to with a name that ends in .tar",
  "export --oci": "use --to with a name that ends in .oci",
  "config check": 'run "provender config"',
  "config show": 'run "provender config"',
  "token new": 'run "provender token NAME"',
  "config --explain": 'run "provender explain SPEC"',
  "status --mirror":
    'run "provender doctor --mirror URL", or ask /metrics of that mirror',
  "status --ca": 'run "provender doctor --mirror URL --ca FILE"',
  "audit --verify":
    "have a log shipper carry the log of the daemon to where the mirror cannot write",
  "verify --bucket":
    'run "provender verify" beside each replica; each download from the bucket is checked',
  "verify --sample": 'run "provender verify", which hashes every archive',
  "prune --bucket":
    "set a lifecycle rule of the bucket that expires objects below blobs/v1/",
  "trust reset": 'put a copy of the database back that "provender backup" made',
  "trust --sha256sums":
    "write the digest behind the release: acme/net@1.2.0 0123456789abcdef",
  "audit --until": 'select by "at" of "provender audit --json"',
  "audit --asker":
    'select by "token", "client" or "operator" of "provender audit --json"',
  "audit --verdict": 'select by "verdict" of "provender audit --json"',
  "audit --event": 'select by "event" of "provender audit --json"',
  "audit --head":
    "have a log shipper carry the log of the daemon to where the mirror cannot write",
};

function refuseRemoved([command = "", ...words]: readonly string[]): void {
  for (const name of [command, ...words.map((word) => `${command} ${word}`)])
    if (Object.hasOwn(removed, name))
      throw failure(
        "arguments",
        name,
        "it is there no longer",
        removed[name] ?? "leave it out",
      );
}

/**
 * Stops the output when a reader such as `head` leaves early; that is no error.
 */
function stopSpeaking({ code }: NodeJS.ErrnoException): void {
  if (code === "EPIPE") return;
  process.stderr.write(`provender: cannot write its output (${code}).\n`);
  process.exitCode = 1;
}
