import { Argument, Command, CommanderError } from "commander";
import type { Shell } from "./help/completion.ts";
import { addExamples } from "./help/examples.ts";
import { addOperation } from "./operate/commands.ts";
import { addPackages } from "./packages/commands.ts";
import { output } from "./output.ts";
import { addStore } from "./store/commands.ts";
import { version } from "./version.ts";

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
    await program.parseAsync();
  } catch (error) {
    const { reportFailure } = await import("../commands/output/report.ts");
    process.exitCode =
      error instanceof CommanderError
        ? error.exitCode && misused
        : reportFailure(error, asked.json === true, output);
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
    .addArgument(new Argument("<shell>").choices(["bash", "zsh", "fish"]))
    .action(async (shell: Shell) => {
      const { makeCompletion } = await import("./help/completion.ts");
      process.stdout.write(makeCompletion(program, shell));
    });
}

/**
 * Stops the output when a reader such as `head` leaves early; that is no error.
 */
function stopSpeaking({ code }: NodeJS.ErrnoException): void {
  if (code === "EPIPE") return;
  process.stderr.write(`provender: cannot write its output (${code}).\n`);
  process.exitCode = 1;
}
