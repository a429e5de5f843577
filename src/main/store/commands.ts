import { InvalidArgumentError, type Command } from "commander";
import { run, runVerb, withConfig } from "../flags.ts";

/** Looks after what is stored. */
export function addStore(program: Command): void {
  addList(program);
  addPurge(program);
  addCompare(program);
  addVerify(program);
  addPrune(program);
  addCarry(program);
}

const specText =
  "[HOSTNAME/]NAMESPACE/TYPE[@CONSTRAINT], or [HOSTNAME/]NAMESPACE/NAME/SYSTEM[@CONSTRAINT] of a module";

function addList(program: Command): void {
  withConfig(program.command("list"))
    .description(
      "what is held of providers and modules: sizes, first seen, last used, signer",
    )
    .argument("[spec]", specText)
    .option("--json", "print one JSON document")
    .action(runVerb("list"));
}

function addPurge(program: Command): void {
  withConfig(program.command("purge"))
    .description(
      "forget stored archives, never what was seen first or decided of them",
    )
    .argument("<spec>", specText)
    .option("--json", "print one JSON document")
    .action(runVerb("purge"));
}

function addCompare(program: Command): void {
  withConfig(program.command("compare"))
    .description("hold what was seen first here against another mirror")
    .argument("[spec...]", "[HOSTNAME/]NAMESPACE/TYPE[@CONSTRAINT]")
    .requiredOption("--with <url>", "the other mirror")
    .option("--ca <file>", "PEM certificates to trust for it")
    .option("--json", "print one JSON document")
    .action(run(async () => (await import("./compare.ts")).compare));
}

function addVerify(program: Command): void {
  withConfig(program.command("verify"))
    .description("hash every stored archive and judge every proof again")
    .option("--bucket", "what is in the bucket of storage.s3")
    .option("--sample <n>", "hash so many of its archives", parseCount)
    .option("--repair", "drop what is bad, so that it is fetched again")
    .option("--json", "print one JSON document")
    .action(runVerb("verify"));
}

function addPrune(program: Command): void {
  withConfig(program.command("prune"))
    .description(
      "remove what no record names, and the least recently used above storage.maxSize",
    )
    .option("--bucket", "of the bucket, unless a replica used it for a day")
    .option("--dry-run", "only say what would leave")
    .option("--json", "print one JSON document")
    .action(runVerb("prune"));
}

function addCarry(program: Command): void {
  const store = program
    .command("store")
    .description("bring a storage directory into a bucket");
  withConfig(store.command("push"))
    .description(
      "bring what storage.directory has into the bucket of storage.s3",
    )
    .option("--json", "print one JSON document")
    .action(run(async () => (await import("./push.ts")).push));
}

function parseCount(text: string): number {
  if (/^[1-9][0-9]{0,8}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("expected a number such as 100.");
}
