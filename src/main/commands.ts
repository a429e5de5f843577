import { Argument, type Command, Option } from "commander";
import { auditEvents } from "../telemetry/audit-entry.ts";
import type { Output } from "../commands/output/report.ts";
import type { VerbName } from "../wiring/verbs/all.ts";
import {
  collect,
  type MirrorFlags,
  refuseLoneAuthority,
  type Run,
  run,
  withConfig,
} from "./flags.ts";

/** Adds the commands that run the mirror, decide on trust, and report. */
export function addOperation(program: Command): void {
  addServe(program);
  addConfig(program);
  addTrust(program);
  addToken(program);
  addClientConfig(program);
  addAudit(program);
  addStatus(program);
  addDoctor(program);
  addExplain(program);
}

function addServe(program: Command): void {
  withConfig(program.command("serve"))
    .description("run the mirror until SIGTERM or SIGINT")
    .action(run(async () => (await import("./operate/serve.ts")).serve));
}

function addConfig(program: Command): void {
  withConfig(program.command("config"))
    .description(
      "check the configuration, and print it with where each value comes from",
    )
    .action(
      run(async () => (await import("./operate/config.ts")).showConfiguration),
    );
}

function addTrust(program: Command): void {
  const group = program
    .command("trust")
    .description("decide on signing keys and contents");
  withConfig(group.command("list"))
    .description("list what needs a decision, with the command for each")
    .option("--all", "also every key, decision and first contact, by namespace")
    .option("--json", "print one JSON document")
    .action(runVerb("trust list"));
  addDecision(group, "approve")
    .description("serve one content of a release, or accept a signing key")
    .action(runVerb("trust approve"));
  addDecision(group, "revoke")
    .description("refuse one content of a release, or a signing key")
    .action(runVerb("trust revoke"));
  addDecision(group, "forget")
    .description("take a decision back, as if it had never been made")
    .action(runVerb("trust forget"));
}

function addDecision(group: Command, name: string): Command {
  return withConfig(group.command(name))
    .argument(
      "[spec]",
      "[HOSTNAME/]NAMESPACE/TYPE@VERSION or a module's [HOSTNAME/]NAMESPACE/NAME/SYSTEM@VERSION",
    )
    .argument(
      "[digest]",
      "content: SHA-256 of its SHA256SUMS, a module's archive or commit, 8 digits or more; needed where several are meant",
    )
    .option("--key <fingerprint>", "full fingerprint of a primary key")
    .option(
      "--for <scope>",
      "with --key: [HOSTNAME/]NAMESPACE[/TYPE[@VERSION]]",
    )
    .option("--because <text>", "reason, for the records and the audit log");
}

function addToken(program: Command): void {
  program
    .command("token")
    .description(
      "make a client's token, and what the configuration needs of it",
    )
    .argument("<name>", "who will have it, as the log shows it")
    .option("--expires <date>", "such as 2027-01-31")
    .action(
      run(async () => (await import("../commands/operate/token.ts")).runToken),
    );
}

function addClientConfig(program: Command): void {
  withConfig(program.command("client-config"))
    .description(
      "print what clients paste: host blocks, network mirror, CA, CI",
    )
    .option("--tofu", "the network mirror for OpenTofu 1.12 and later")
    .option("--github", "GitHub Actions")
    .option("--gitlab", "GitLab CI")
    .option("--docker", "a Dockerfile")
    .option("--terragrunt", "terragrunt")
    .option("--pem", "the CA alone; how to trust it is on standard error")
    .action(
      run(
        async () =>
          (await import("./operate/client-config.ts")).showClientConfig,
      ),
    );
}

function addAudit(program: Command): void {
  withConfig(program.command("audit"))
    .description("show who got what, and who decided what")
    .argument("[spec]", "[HOSTNAME/]NAMESPACE/TYPE[@CONSTRAINT], or a module")
    .option("-n <count>", "only the newest")
    .option("--since <time>", "such as 2026-01-31, or 12h for so long ago")
    .option("--until <time>", "likewise; up to then")
    .option("--asker <who>", "a token's name, an address or a login name")
    .addOption(
      new Option("--verdict <verdict>").choices([
        "accepted",
        "refused",
        "reported",
      ]),
    )
    .addOption(new Option("--event <event>").choices(auditEvents))
    .option("--json", "print one JSON document")
    .action(runVerb("audit"));
}

function addStatus(program: Command): void {
  withConfig(program.command("status"))
    .description(
      "show what needs you, then daemon, cache and origins; exits 1 when something does",
    )
    .option("--json", "print one JSON document")
    .action(run(async () => (await import("./operate/status.ts")).status));
}

function addDoctor(program: Command): void {
  withConfig(program.command("doctor"))
    .description("diagnose common problems and suggest fixes")
    .option("--mirror <url>", "look as its clients on this machine do")
    .option("--ca <file>", "PEM certificates to trust for --mirror")
    .option("--json", "print one JSON document")
    .action(run(async () => (await import("./operate/doctor.ts")).doctor));
}

function addExplain(program: Command): void {
  withConfig(program.command("explain"))
    .description(
      "explain whether a package is served and why; exits 1 if it is not",
    )
    .argument(
      "<spec>",
      "[HOSTNAME/]NAMESPACE/TYPE[@VERSION], or [HOSTNAME/]NAMESPACE/NAME/SYSTEM[@VERSION] of a module",
    )
    .option("--mirror <url>", "ask a running mirror, not the local store")
    .option("--ca <file>", "PEM certificates to trust for --mirror")
    .option("--json", "print one JSON document")
    .action(
      runVerb(
        "explain",
        async () => (await import("./operate/explain.ts")).explain,
      ),
    );
}

/** Adds the commands that import, export and describe packages. */
export function addPackages(program: Command): void {
  addPrefetch(program);
  addLock(program);
  addExport(program);
  addImport(program);
}

function addPrefetch(program: Command): void {
  withSelection(program.command("prefetch"))
    .description("download and verify packages ahead of time")
    .option("--check", "fetch nothing; status 1 when something is not held")
    .option("--json", "print one JSON document")
    .action(run(async () => (await import("./verb.ts")).prefetch));
}

function addLock(program: Command): void {
  withConfig(program.command("lock"))
    .description("complete lock files for every platform")
    .addArgument(
      new Argument("[dir...]", "where clients are run").default(["."], "here"),
    )
    .option("--platform <os_arch>", "such as linux_amd64; repeatable", collect)
    .option("--mirror <url>", "the one to ask, in place of the local one")
    .option("--ca <file>", "PEM certificates to trust for --mirror")
    .option("--check", "change nothing; status 1 when something is missing")
    .action(run(async () => (await import("./operate/lock.ts")).lock));
}

function addExport(program: Command): void {
  withSelection(program.command("export"))
    .description("export packages for an air-gapped site")
    .requiredOption(
      "--to <path>",
      "NAME.tar: a bundle for `provender import`; NAME.oci: an OCI image layout for each provider; another folder: a tree as `terraform providers mirror` writes it",
    )
    .option("--since <bundle>", "leave out what this bundle lists")
    .action(run(async () => (await import("./verb.ts")).exportPackages));
}

function addImport(program: Command): void {
  withConfig(program.command("import"))
    .description("import a bundle, verifying everything in it")
    .argument("<file>", "what `provender export --to FILE.tar` wrote")
    .option("--sha256 <digest>", "of its manifest, as `export` printed it")
    .action(run(async () => (await import("./verb.ts")).importFile));
}

/** The packages that a command works on. */
function withSelection(command: Command): Command {
  return withConfig(command)
    .argument("[spec...]", "[HOSTNAME/]NAMESPACE/TYPE[@CONSTRAINT]")
    .option("--platform <os_arch>", "such as linux_amd64; repeatable", collect)
    .option(
      "--module <spec>",
      "[HOSTNAME/]NAMESPACE/NAME/SYSTEM[@CONSTRAINT], with what it calls and requires; repeatable",
      collect,
    )
    .option("--lock-file <path>", "what it locks; repeatable", collect)
    .option(
      "--directory <dir>",
      "what is locked or required there and below; repeatable",
      collect,
    );
}

/** Looks after what is stored. */
export function addStore(program: Command): void {
  addList(program);
  addVerify(program);
  addPrune(program);
  addBackup(program);
}

function addBackup(program: Command): void {
  withConfig(program.command("backup"))
    .description(
      "write a consistent copy of the database, also beside a daemon",
    )
    .argument("<file>", "to be made")
    .action(run(async () => (await import("./operate/backup.ts")).backUp));
}

const specText =
  "[HOSTNAME/]NAMESPACE/TYPE[@CONSTRAINT], or [HOSTNAME/]NAMESPACE/NAME/SYSTEM[@CONSTRAINT] of a module";

function addList(program: Command): void {
  withConfig(program.command("list"))
    .description("list stored providers and modules")
    .argument("[spec]", specText)
    .option("--json", "print one JSON document")
    .action(runVerb("list"));
}

function addVerify(program: Command): void {
  withConfig(program.command("verify"))
    .description("re-verify every stored archive and signature")
    .option("--repair", "drop what is bad, so that it is fetched again")
    .option("--json", "print one JSON document")
    .action(runVerb("verify"));
}

function addPrune(program: Command): void {
  withConfig(program.command("prune"))
    .description(
      "delete what is named, else unreferenced archives, then the least recently used above storage.maxSize",
    )
    .argument("[spec...]", specText)
    .option("--dry-run", "only list what would be deleted")
    .option("--json", "print one JSON document")
    .action(runVerb("prune"));
}

/**
 * Returns the action of a command that is a verb; `elsewhere` loads the function
 * for a running mirror that `--mirror` names.
 */
function runVerb(name: VerbName, elsewhere?: () => Promise<Run>) {
  return run(() =>
    Promise.resolve(async (input: MirrorFlags, io: Output) => {
      if (input.mirror !== undefined && elsewhere !== undefined)
        return (await elsewhere())(input as never, io);
      if (elsewhere !== undefined) refuseLoneAuthority(input);
      return (await import("./verb.ts")).runVerb(name, input);
    }),
  );
}
