import { Argument, type Command } from "commander";

/** A command by its arguments and options; returns the exit status. */
type Run = (input: never) => number | Promise<number>;

/** Returns the action of a command: the function of that name in a module that is loaded when it runs. */
function run<Name extends string>(
  load: () => Promise<Readonly<Record<Name, Run>>>,
  name: Name,
) {
  return async (...args: readonly unknown[]): Promise<void> => {
    const command = args.at(-1) as Command;
    const input: Record<string, unknown> = { ...command.opts() };
    for (const [place, one] of command.registeredArguments.entries())
      input[one.name()] = args[place];
    const { [name]: start } = await load();
    process.exitCode = await start(input as never);
  };
}

/** The commands that open the store. */
const stored = () => import("./stored.ts");

/** Adds the commands that run the mirror, decide on trust, and report. */
export function addOperation(program: Command): void {
  withConfig(program.command("serve"))
    .description("run the mirror until SIGTERM or SIGINT")
    .action(run(() => import("../commands/operate/serve.ts"), "serve"));
  withConfig(program.command("config"))
    .description(
      "check the configuration, and print it with where each value comes from",
    )
    .action(
      run(() => import("../commands/operate/config.ts"), "showConfiguration"),
    );
  addTrust(program);
  program
    .command("token")
    .description(
      "make a client's token, and what the configuration needs of it",
    )
    .argument("<name>", "who will have it, as the log shows it")
    .option("--expires <date>", "such as 2027-01-31")
    .action(run(() => import("../commands/operate/token.ts"), "token"));
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
      run(() => import("../commands/operate/client-config.ts"), "clientConfig"),
    );
  withJson(program.command("audit"))
    .description("show who got what, and who decided what")
    .argument("[spec]", "[HOSTNAME/]NAMESPACE/TYPE[@CONSTRAINT], or a module")
    .option("-n <count>", "only the newest")
    .option("--since <time>", "such as 2026-01-31, or 12h for so long ago")
    .option("--follow", "go on with what happens from now on, until Ctrl-C")
    .action(run(stored, "audit"));
  withJson(program.command("status"))
    .description(
      "show what needs you, then daemon, cache and origins; exits 1 when something does",
    )
    .action(run(() => import("../commands/operate/status.ts"), "status"));
  withMirror(
    withJson(program.command("doctor")),
    "look as its clients on this machine do",
  )
    .description("diagnose common problems and suggest fixes")
    .action(run(() => import("../commands/operate/doctor.ts"), "doctor"));
  withMirror(
    withJson(program.command("explain")),
    "ask a running mirror, not the local store",
  )
    .description(
      "explain whether a package is served and why; exits 1 if it is not",
    )
    .argument(
      "<spec>",
      "[HOSTNAME/]NAMESPACE/TYPE[@VERSION], or [HOSTNAME/]NAMESPACE/NAME/SYSTEM[@VERSION] of a module",
    )
    .action(run(stored, "explain"));
}

function addTrust(program: Command): void {
  const group = program
    .command("trust")
    .description("decide on signing keys and contents");
  withJson(group.command("list"))
    .description("list what needs a decision, with the command for each")
    .option("--all", "also every key, decision and first contact, by namespace")
    .action(run(stored, "listTrust"));
  const decisions = {
    approve: "serve one content of a release, or accept a signing key",
    revoke: "refuse one content of a release, or a signing key",
    forget: "take a decision back, as if it had never been made",
  } as const;
  for (const name of ["approve", "revoke", "forget"] as const)
    withConfig(group.command(name))
      .description(decisions[name])
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
      .option("--because <text>", "reason, for the records and the audit log")
      .action(run(stored, name));
}

/** Adds the commands that import, export and describe packages. */
export function addPackages(program: Command): void {
  withSelection(withJson(program.command("prefetch")))
    .description("download and verify packages ahead of time")
    .option("--check", "fetch nothing; status 1 when something is not held")
    .action(run(stored, "prefetch"));
  withMirror(
    withConfig(program.command("lock")),
    "the one to ask, in place of the local one",
  )
    .description("complete lock files for every platform")
    .addArgument(
      new Argument("[dir...]", "where clients are run").default(["."], "here"),
    )
    .option("--platform <os_arch>", "such as linux_amd64; repeatable", collect)
    .option("--check", "change nothing; status 1 when something is missing")
    .action(run(() => import("../commands/lock/lock.ts"), "lock"));
  withSelection(withConfig(program.command("export")))
    .description("export packages for an air-gapped site")
    .requiredOption(
      "--to <path>",
      "NAME.tar: a bundle for `provender import`; NAME.oci: an OCI image layout for each provider; another folder: a tree as `terraform providers mirror` writes it",
    )
    .option("--since <bundle>", "leave out the archives that this bundle lists")
    .action(run(stored, "exportPackages"));
  withConfig(program.command("import"))
    .description("import a bundle, verifying everything in it")
    .argument("<file>", "what `provender export --to FILE.tar` wrote")
    .option("--sha256 <digest>", "of its manifest, as `export` printed it")
    .action(run(stored, "importFile"));
}

const specText =
  "[HOSTNAME/]NAMESPACE/TYPE[@CONSTRAINT], or [HOSTNAME/]NAMESPACE/NAME/SYSTEM[@CONSTRAINT] of a module";

/** Adds those that look after what is stored. */
export function addStore(program: Command): void {
  withJson(program.command("list"))
    .description("list stored providers and modules, a line each")
    .argument("[spec]", specText)
    .option("--all", "a line for each package")
    .action(run(stored, "list"));
  withJson(program.command("verify"))
    .description("re-verify every stored archive and signature")
    .option("--repair", "drop what is bad, so that it is fetched again")
    .action(run(stored, "verify"));
  withJson(program.command("prune"))
    .description(
      "delete what is named, else unreferenced archives, then the least recently used above storage.maxSize",
    )
    .argument("[spec...]", specText)
    .option("--dry-run", "only list what would be deleted")
    .action(run(stored, "prune"));
  withConfig(program.command("backup"))
    .description(
      "write a consistent copy of the database, also beside a daemon",
    )
    .argument("<file>", "to be made")
    .action(run(() => import("../commands/store/backup.ts"), "backup"));
}

/** The option of every command that reads the configuration. */
function withConfig(command: Command): Command {
  return command.option(
    "--config <file>",
    "configuration file (default: $PROVENDER_CONFIG, ./provender.yaml, /etc/provender/config.yaml)",
  );
}

function withJson(command: Command): Command {
  return withConfig(command).option("--json", "print one JSON document");
}

function withMirror(command: Command, why: string): Command {
  return command
    .option("--mirror <url>", why)
    .option("--ca <file>", "PEM certificates to trust for --mirror");
}

/** The packages that a command works on. */
function withSelection(command: Command): Command {
  return command
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

/** Collects the values of a repeatable option. */
function collect(
  value: string,
  values: readonly string[] = [],
): readonly string[] {
  return [...values, value];
}
