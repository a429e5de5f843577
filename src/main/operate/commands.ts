import { Option, type Command } from "commander";
import { auditEvents } from "../../telemetry/audit-entry.ts";
import { run, runVerb, withConfig } from "../flags.ts";

/** Adds the commands that run the mirror, decide on trust, and report. */
export function addOperation(program: Command): void {
  addServe(program);
  addConfig(program);
  addTrust(program);
  addToken(program);
  addAuthority(program);
  addAudit(program);
  addStatus(program);
  addDoctor(program);
  addExplain(program);
}

function addServe(program: Command): void {
  withConfig(program.command("serve"))
    .description("run the mirror until SIGTERM or SIGINT")
    .action(run(async () => (await import("./serve.ts")).serve));
}

function addConfig(program: Command): void {
  const group = program
    .command("config")
    .description("look at the configuration");
  withConfig(group.command("check"))
    .description("say whether the configuration can be used")
    .action(run(async () => (await import("./config.ts")).checkConfiguration));
  withConfig(group.command("show"))
    .description("print the configuration with all defaults, without secrets")
    .action(run(async () => (await import("./config.ts")).showConfiguration));
}

function addTrust(program: Command): void {
  const group = program
    .command("trust")
    .description("manage signing keys and approvals");
  withConfig(group.command("list"))
    .description("list keys, decisions and what needs one, by namespace")
    .option("--json", "print one JSON document")
    .action(runVerb("trust list"));
  addDecision(group, "approve")
    .description("approve one content of a release, or a signing key")
    .action(runVerb("trust approve"));
  addDecision(group, "revoke")
    .description("remove the approval of a content, or revoke a signing key")
    .action(runVerb("trust revoke"));
  withConfig(group.command("reset"))
    .description("forget a first contact that was lost")
    .argument(
      "<what>",
      "[HOSTNAME/]NAMESPACE/TYPE or [HOSTNAME/]NAMESPACE, or a module's [HOSTNAME/]NAMESPACE/NAME/SYSTEM",
    )
    .option("--because <text>", "reason, for the records and the audit log")
    .action(runVerb("trust reset"));
}

function addDecision(group: Command, name: string): Command {
  return withConfig(group.command(name))
    .argument(
      "[what]",
      "[HOSTNAME/]NAMESPACE/TYPE@VERSION or a module's [HOSTNAME/]NAMESPACE/NAME/SYSTEM@VERSION, or with --key as --for",
    )
    .option(
      "--sha256sums <digest>",
      "content: SHA-256 of its SHA256SUMS, a module's archive or commit, 8 digits or more",
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
    .description("tokens of clients")
    .command("new")
    .description("make one, and what the configuration needs of it")
    .argument("<name>", "who will have it, as the log shows it")
    .option("--expires <date>", "such as 2027-01-31")
    .action(
      run(
        async () => (await import("../../commands/operate/token.ts")).runToken,
      ),
    );
}

function addAuthority(program: Command): void {
  withConfig(program.command("ca"))
    .description(
      "print the CA of the self-signed certificate, and how to trust it",
    )
    .action(run(async () => (await import("./ca.ts")).showAuthority));
}

function addAudit(program: Command): void {
  withConfig(program.command("audit"))
    .description("print what the audit log has")
    .argument("[spec]", "[HOSTNAME/]NAMESPACE/TYPE[@CONSTRAINT], or a module")
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
    .description("say what runs, what it holds, and what it has met")
    .option("--json", "print one JSON document")
    .action(runVerb("status"));
}

function addDoctor(program: Command): void {
  withConfig(program.command("doctor"))
    .description("say what is wrong here, and what to do about it")
    .option("--mirror <url>", "look as its clients on this machine do")
    .option("--ca <file>", "PEM certificates to trust for --mirror")
    .option("--json", "print one JSON document")
    .action(run(async () => (await import("./doctor.ts")).doctor));
}

function addExplain(program: Command): void {
  withConfig(program.command("explain"))
    .description("say why clients get what they get, status 1 when not all")
    .argument(
      "<spec>",
      "[HOSTNAME/]NAMESPACE/TYPE[@VERSION], or [HOSTNAME/]NAMESPACE/NAME/SYSTEM[@VERSION] of a module",
    )
    .option("--mirror <url>", "ask a running mirror, not the local store")
    .option("--ca <file>", "PEM certificates to trust for --mirror")
    .option("--json", "print one JSON document")
    .action(
      runVerb("explain", async () => (await import("./explain.ts")).explain),
    );
}
