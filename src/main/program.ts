import { Command, CommanderError, Option } from "commander";
import {
  ConfigurationInvalid,
  MalformedAddress,
  NothingAsked,
  ProvenderError,
  StoreOwnedByAnother,
} from "../errors/index.ts";
import type { AuditFlags } from "./audit.ts";
import type { ExportFlags } from "./air-gap.ts";
import { collect } from "./collect.ts";
import type { CheckFlags } from "./config.ts";
import type { LockFlags } from "./lock.ts";
import type { PrefetchFlags } from "./prefetch.ts";
import type { PruneFlags, VerifyFlags } from "./retention.ts";
import type { TrustFlags } from "./trust.ts";
import { version } from "./version.ts";

/** Exit statuses of docs/contract.md: 0 done, 1 some of the work could not be done, 2 usage or configuration. */
const failed = 1;
const misused = 2;

/** Runs the command that the arguments name and sets the exit status. What a command needs is loaded when it runs. */
export async function runProgram(): Promise<void> {
  process.stdout.on("error", stopSpeaking);
  process.stderr.on("error", () => undefined);
  try {
    await makeProgram().parseAsync();
  } catch (error) {
    process.exitCode = report(error);
  }
}

export function makeProgram(): Command {
  const program = new Command("provender")
    .description(
      "A caching, verifying mirror for Terraform and OpenTofu providers and modules",
    )
    .version(version)
    .exitOverride();
  addServe(program);
  addConfig(program);
  addTrust(program);
  addToken(program);
  addAuthority(program);
  addHash(program);
  addPrefetch(program);
  addLock(program);
  addExport(program);
  addImport(program);
  addVerify(program);
  addPrune(program);
  addAudit(program);
  return program;
}

function addServe(program: Command): void {
  withConfig(program.command("serve"))
    .description("run the mirror until SIGTERM or SIGINT")
    .action(async (flags: { readonly config?: string }) =>
      (await import("./serve.ts")).serve(flags),
    );
}

function addConfig(program: Command): void {
  const group = program
    .command("config")
    .description("look at the configuration");
  withConfig(group.command("check"))
    .description("say whether the configuration can be used")
    .option(
      "--explain <spec>",
      "say which rule decides for NAMESPACE/TYPE[@VERSION]",
    )
    .action(async (flags: CheckFlags) =>
      (await import("./config.ts")).checkConfiguration(flags),
    );
  withConfig(group.command("show"))
    .description("print the configuration with all defaults, without secrets")
    .action(async (flags: CheckFlags) =>
      (await import("./config.ts")).showConfiguration(flags),
    );
}

function addTrust(program: Command): void {
  const group = program
    .command("trust")
    .description("look at signing keys and decide about them");
  withConfig(group.command("list"))
    .description("keys, held back and re-created releases by namespace")
    .option("--json", "print one JSON document")
    .action(async (flags: TrustFlags) =>
      (await import("./trust.ts")).list(flags),
    );
  addDecision(group, "approve")
    .option(
      "--ahead",
      "with --key: a version to come, if that key has signed it",
    )
    .description(
      "serve a release that is held back or re-created, or take a key",
    )
    .action(async (what: string, flags: TrustFlags) =>
      (await import("./trust.ts")).approve(what, flags),
    );
  addDecision(group, "revoke")
    .description("take an approval back, or refuse a key from now on")
    .action(async (what: string, flags: TrustFlags) =>
      (await import("./trust.ts")).revoke(what, flags),
    );
}

function addDecision(group: Command, name: string): Command {
  return withConfig(group.command(name))
    .argument(
      "<what>",
      "[HOSTNAME/]NAMESPACE/TYPE@VERSION, or with --key HOSTNAME/NAMESPACE",
    )
    .option("--key <fingerprint>", "full fingerprint of a primary key")
    .addOption(
      new Option(
        "--scope <scope>",
        "whom the key counts for; with --key and provider: [HOSTNAME/]NAMESPACE/TYPE",
      ).choices(["provider", "namespace"]),
    )
    .option("--because <text>", "why, for the ledger and the audit log");
}

function addVerify(program: Command): void {
  withConfig(program.command("verify"))
    .description("hash every stored archive and judge every proof again")
    .option("--repair", "drop what is bad, so that it is fetched again")
    .option("--json", "print one JSON document")
    .action(async (flags: VerifyFlags) =>
      (await import("./retention.ts")).verify(flags),
    );
}

function addPrune(program: Command): void {
  withConfig(program.command("prune"))
    .description(
      "remove what no record names, and the least recently used above storage.maxSize",
    )
    .option("--dry-run", "only say what would leave")
    .option("--json", "print one JSON document")
    .action(async (flags: PruneFlags) =>
      (await import("./retention.ts")).prune(flags),
    );
}

function addAudit(program: Command): void {
  withConfig(program.command("audit"))
    .description("print what the audit log has, or check the log itself")
    .argument("[spec]", "[HOSTNAME/]NAMESPACE/TYPE[@CONSTRAINT], or a module")
    .option("--since <time>", "such as 2026-01-31, or 12h for so long ago")
    .option("--until <time>", "likewise; up to then")
    .option("--asker <who>", "a token's name, an address or a login name")
    .addOption(
      new Option("--verdict <verdict>").choices(["accepted", "refused"]),
    )
    .option("--event <event>", "such as served or first-seen")
    .option("--verify", "say where it is not what was written")
    .option("--json", "print one JSON document")
    .action(async (spec: string | undefined, flags: AuditFlags) =>
      (await import("./audit.ts")).audit(spec, flags),
    );
}

function addToken(program: Command): void {
  program
    .command("token")
    .description("tokens of clients")
    .command("new")
    .description("make one, and what the configuration needs of it")
    .argument("<name>", "who will have it, as the log shows it")
    .option("--expires <date>", "such as 2027-01-31")
    .action(async (name: string, flags: { readonly expires?: string }) =>
      (await import("./token.ts")).newToken(name, flags),
    );
}

function addAuthority(program: Command): void {
  withConfig(program.command("ca"))
    .description(
      "print the CA of the self-signed certificate, and how to trust it",
    )
    .action(async (flags: { readonly config?: string }) =>
      (await import("./ca.ts")).showAuthority(flags),
    );
}

function addHash(program: Command): void {
  program
    .command("hash")
    .description("print h1: and zh: of archives")
    .argument("<archive...>", "zip files")
    .option("--json", "print one JSON document")
    .action(async (archives: string[], flags: { readonly json?: boolean }) =>
      (await import("./hash.ts")).hash(archives, flags),
    );
}

function addPrefetch(program: Command): void {
  withSelection(program.command("prefetch"))
    .description("fetch, verify and keep packages before they are asked for")
    .option("--json", "print one JSON document")
    .action(async (specs: string[], flags: PrefetchFlags) =>
      (await import("./prefetch.ts")).prefetch(specs, flags),
    );
}

function addLock(program: Command): void {
  withConfig(program.command("lock"))
    .description("complete dependency lock files with verified hashes")
    .argument("[dir...]", "where clients are run (default: here)")
    .option("--platform <os_arch>", "such as linux_amd64; repeatable", collect)
    .option("--mirror <url>", "ask a running mirror, not the local store")
    .option("--ca <file>", "PEM certificates to trust for --mirror")
    .option("--check", "change nothing; status 1 when something is missing")
    .action(async (directories: string[], flags: LockFlags) =>
      (await import("./lock.ts")).lock(directories, flags),
    );
}

function addExport(program: Command): void {
  withSelection(program.command("export"))
    .description("write packages for a site that has no mirror of its own")
    .option("--to <dir>", "a tree as `terraform providers mirror` writes it")
    .option("--bundle <file>", "one file for `provender import`")
    .option("--since <bundle>", "leave out what this bundle lists")
    .action(async (specs: string[], flags: ExportFlags) =>
      (await import("./air-gap.ts")).exportPackages(specs, flags),
    );
}

function addImport(program: Command): void {
  withConfig(program.command("import"))
    .description("take a bundle into the store, after checking all of it again")
    .argument("<file>", "what `provender export --bundle` wrote")
    .action(async (file: string, flags: { readonly config?: string }) =>
      (await import("./air-gap.ts")).importFile(file, flags),
    );
}

function withConfig(command: Command): Command {
  return command.option(
    "--config <file>",
    "configuration file (default: $PROVENDER_CONFIG, ./provender.yaml, /etc/provender/config.yaml)",
  );
}

/** The packages that a command works on. */
function withSelection(command: Command): Command {
  return withConfig(command)
    .argument("[spec...]", "[HOSTNAME/]NAMESPACE/TYPE[@CONSTRAINT]")
    .option("--platform <os_arch>", "such as linux_amd64; repeatable", collect)
    .option("--lock-file <path>", "what it locks; repeatable", collect)
    .option(
      "--directory <dir>",
      "what is locked or required there and below; repeatable",
      collect,
    )
    .option(
      "--list <path>",
      "a file of SPECs, - is stdin; repeatable",
      collect,
    );
}

/** One sentence for what is foreseen; the stack only for what is not. */
function report(error: unknown): number {
  if (error instanceof CommanderError)
    return error.exitCode === 0 ? 0 : misused;
  const text =
    error instanceof ProvenderError
      ? error.message
      : ((error as Error).stack ?? String(error));
  process.stderr.write(`provender: ${text}\n`);
  return isMisuse(error) ? misused : failed;
}

function isMisuse(error: unknown): boolean {
  return (
    error instanceof ConfigurationInvalid ||
    error instanceof MalformedAddress ||
    error instanceof NothingAsked ||
    error instanceof StoreOwnedByAnother
  );
}

/** A reader such as `head` may leave early: then what is left is not said, and nothing is wrong. */
function stopSpeaking({ code }: NodeJS.ErrnoException): void {
  if (code === "EPIPE") return;
  process.stderr.write(`provender: cannot write its output (${code}).\n`);
  process.exitCode = failed;
}
