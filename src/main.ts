#!/usr/bin/env node
import { readFileSync } from "node:fs";
import { Command, CommanderError } from "commander";
import { runHash } from "./commands/hash.ts";
import { runServe } from "./commands/serve.ts";
import { formatConfiguration, loadConfiguration } from "./config.ts";
import { ConfigurationInvalid, ProvenderError } from "./errors.ts";
import { wireDaemon, zipLimits } from "./wiring.ts";

/** Exit statuses of the contract: 0 done, 1 some of the work could not be done, 2 usage or configuration. */
const failed = 1;
const misused = 2;

interface ConfigOption {
  readonly config?: string;
}

const { version } = JSON.parse(
  readFileSync(new URL("../package.json", import.meta.url), "utf8"),
) as { version: string };

function makeProgram(): Command {
  const program = new Command("provender")
    .description(
      "A caching, verifying mirror for Terraform and OpenTofu providers",
    )
    .version(version)
    .exitOverride();
  addServe(program);
  addConfig(program);
  addHash(program);
  return program;
}

function addServe(program: Command): void {
  withConfig(program.command("serve"))
    .description("run the mirror until SIGTERM or SIGINT")
    .action(async ({ config }: ConfigOption) => {
      const daemon = await wireDaemon(loadConfiguration({ file: config }));
      process.exitCode = await runServe(daemon, process);
    });
}

function addConfig(program: Command): void {
  const group = program
    .command("config")
    .description("look at the configuration");
  withConfig(group.command("check"))
    .description("say whether the configuration can be used")
    .action(({ config }: ConfigOption) => {
      const { source } = loadConfiguration({ file: config });
      process.stdout.write(`${source ?? "The built-in defaults"}: good\n`);
    });
  withConfig(group.command("show"))
    .description("print the configuration with all defaults, without secrets")
    .action(({ config }: ConfigOption) => {
      const configuration = loadConfiguration({ file: config });
      process.stdout.write(formatConfiguration(configuration));
    });
}

function addHash(program: Command): void {
  program
    .command("hash")
    .description("print h1: and zh: of archives")
    .argument("<archive...>", "zip files")
    .option("--json", "print one JSON document")
    .action(
      async (archives: string[], { json = false }: { json?: boolean }) => {
        const { limits } = loadConfiguration({ file: undefined });
        const stdout = (text: string) => void process.stdout.write(text);
        const stderr = (text: string) => void process.stderr.write(text);
        process.exitCode = await runHash(
          { archives, json, limits: zipLimits(limits) },
          { stdout, stderr },
        );
      },
    );
}

function withConfig(command: Command): Command {
  return command.option(
    "--config <file>",
    "configuration file (default: $PROVENDER_CONFIG, ./provender.yaml, /etc/provender/config.yaml)",
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
  return error instanceof ConfigurationInvalid ? misused : failed;
}

try {
  await makeProgram().parseAsync();
} catch (error) {
  process.exitCode = report(error);
}
