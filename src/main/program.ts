import { Argument, Command, CommanderError } from "commander";
import { isFailure, ProvenderError } from "../errors/index.ts";
import { formatFailure } from "../commands/output/json-document.ts";
import { makeCompletion, shells, type Shell } from "./help/completion.ts";
import { addExamples } from "./help/examples.ts";
import { addOperation } from "./operate/commands.ts";
import { addPackages } from "./packages/commands.ts";
import { addStore } from "./store/commands.ts";
import { version } from "./version.ts";

/** Exit statuses of docs/contract.md: 0 done, 1 some of the work could not be done, 2 usage or configuration. */
const failed = 1;
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
    await program.parseAsync();
  } catch (thrown) {
    // The command's error comes before the one of closing the store.
    const isBoth = thrown instanceof SuppressedError;
    const error: unknown = isBoth ? thrown.suppressed : thrown;
    process.exitCode = report(error);
    if (isBoth) report(thrown.error);
    if (asked.json === true && error instanceof ProvenderError)
      process.stdout.write(formatFailure(error));
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
  addCompletion(program);
  addExamples(program);
  return program;
}

function addCompletion(program: Command): void {
  program
    .command("completion")
    .description("print what a shell completes its commands by")
    .addArgument(new Argument("<shell>").choices(shells))
    .action((shell: Shell) => {
      process.stdout.write(makeCompletion(program, shell));
    });
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
  return isFailure(
    error,
    "arguments",
    "configuration",
    "malformed-address",
    "nothing-asked",
    "store-owned-by-another",
    "store-too-new",
    "store-version-unreadable",
  );
}

/**
 * Stops the output when a reader such as `head` leaves early; that is no error.
 */
function stopSpeaking({ code }: NodeJS.ErrnoException): void {
  if (code === "EPIPE") return;
  process.stderr.write(`provender: cannot write its output (${code}).\n`);
  process.exitCode = failed;
}
