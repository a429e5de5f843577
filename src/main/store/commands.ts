import { InvalidArgumentError, type Command } from "commander";
import { runVerb, withConfig } from "../flags.ts";

/** Looks after what is stored. */
export function addStore(program: Command): void {
  addList(program);
  addVerify(program);
  addPrune(program);
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
      "remove archives: what is named, else what no record names and the least recently used above storage.maxSize",
    )
    .argument("[spec...]", specText)
    .option("--bucket", "of the bucket, unless a replica used it for a day")
    .option("--dry-run", "only say what would leave")
    .option("--json", "print one JSON document")
    .action(runVerb("prune"));
}

function parseCount(text: string): number {
  if (/^[1-9][0-9]{0,8}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("expected a number such as 100.");
}
