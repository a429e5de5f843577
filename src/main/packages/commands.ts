import { Argument, type Command } from "commander";
import { collect, run, runVerb, withConfig } from "../flags.ts";

/** Adds the commands that import, export and describe packages. */
export function addPackages(program: Command): void {
  addPrefetch(program);
  addLock(program);
  addExport(program);
  addImport(program);
}

function addPrefetch(program: Command): void {
  withSelection(program.command("prefetch"))
    .description("fetch, verify and keep packages before they are asked for")
    .option("--check", "fetch nothing; status 1 when something is not held")
    .option("--json", "print one JSON document")
    .action(run(async () => (await import("./prefetch.ts")).prefetch));
}

function addLock(program: Command): void {
  withConfig(program.command("lock"))
    .description("complete dependency lock files with verified hashes")
    .addArgument(
      new Argument("[dir...]", "where clients are run").default(["."], "here"),
    )
    .option("--platform <os_arch>", "such as linux_amd64; repeatable", collect)
    .option("--mirror <url>", "ask a running mirror, not the local store")
    .option("--ca <file>", "PEM certificates to trust for --mirror")
    .option("--check", "change nothing; status 1 when something is missing")
    .action(runVerb("lock", async () => (await import("./lock.ts")).lock));
}

function addExport(program: Command): void {
  withSelection(program.command("export"))
    .description("write packages for a site that has no mirror of its own")
    .option("--to <dir>", "a tree as `terraform providers mirror` writes it")
    .option("--oci <dir>", "an OCI image layout for each provider")
    .option("--bundle <file>", "one file for `provender import`")
    .option("--since <bundle>", "leave out what this bundle lists")
    .action(run(async () => (await import("./prefetch.ts")).exportPackages));
}

function addImport(program: Command): void {
  withConfig(program.command("import"))
    .description("take a bundle into the store, after checking all of it again")
    .argument("<file>", "what `provender export --bundle` wrote")
    .option("--sha256 <digest>", "of its manifest, as `export` printed it")
    .action(runVerb("import"));
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
    )
    .option(
      "--list <path>",
      "a file of SPECs, - is stdin; repeatable",
      collect,
    );
}
