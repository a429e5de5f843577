#!/usr/bin/env node
import { readFileSync } from "node:fs";
import { Command, CommanderError } from "commander";
import { runHash } from "./commands/hash.ts";
import { formatExplanation } from "./commands/policy-explanation.ts";
import { runServe } from "./commands/serve.ts";
import {
  approveRelease,
  decideKey,
  listTrust,
  withdrawApproval,
  type TrustParts,
} from "./commands/trust.ts";
import { addAirGap } from "./main/air-gap.ts";
import { addLock } from "./main/lock.ts";
import { addPrefetch } from "./main/prefetch.ts";
import { formatConfiguration, loadConfiguration } from "./config.ts";
import {
  ConfigurationInvalid,
  MalformedAddress,
  NothingAsked,
  ProvenderError,
} from "./errors.ts";
import { wireDaemon, wireLedger, wireRules, zipLimits } from "./wiring.ts";

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
  addTrust(program);
  addHash(program);
  addPrefetch(program, withConfig);
  addLock(program, withConfig);
  addAirGap(program, withConfig);
  return program;
}

function addServe(program: Command): void {
  withConfig(program.command("serve"))
    .description("run the mirror until SIGTERM or SIGINT")
    .action(async ({ config }: ConfigOption) => {
      const daemon = await wireDaemon(() =>
        loadConfiguration({ file: config }),
      );
      process.exitCode = await runServe(daemon, process);
    });
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
    .action(({ config, explain }: ConfigOption & { explain?: string }) => {
      const configuration = loadConfiguration({ file: config });
      const { policy } = wireRules(configuration);
      const { source } = configuration;
      print(`${source ?? "The built-in defaults"}: good\n`);
      if (explain !== undefined) print(formatExplanation(policy, explain));
    });
  withConfig(group.command("show"))
    .description("print the configuration with all defaults, without secrets")
    .action(({ config }: ConfigOption) => {
      const configuration = loadConfiguration({ file: config });
      print(formatConfiguration(configuration));
    });
}

function addTrust(program: Command): void {
  const group = program
    .command("trust")
    .description("look at signing keys and decide about them");
  const run = async (
    { config }: ConfigOption,
    act: (parts: TrustParts) => Promise<void>,
  ) => {
    const parts = await wireLedger(loadConfiguration({ file: config }));
    try {
      await act({ ...parts, now: () => new Date(), stdout: print });
    } finally {
      await parts.audit.close();
    }
  };
  withConfig(group.command("list"))
    .description("keys, held back and re-created releases by namespace")
    .option("--json", "print one JSON document")
    .action((options: ConfigOption & { json?: boolean }) =>
      run(options, (parts) =>
        listTrust(parts, { json: options.json ?? false }),
      ),
    );
  addDecision(group, run, "approve");
  addDecision(group, run, "revoke");
}

function addDecision(
  group: Command,
  run: (
    options: ConfigOption,
    act: (parts: TrustParts) => Promise<void>,
  ) => Promise<void>,
  name: "approve" | "revoke",
): void {
  const decision = name === "approve" ? "approved" : "revoked";
  const decideRelease = name === "approve" ? approveRelease : withdrawApproval;
  withConfig(group.command(name))
    .description(
      name === "approve"
        ? "serve a release that is held back or re-created, or take a key"
        : "take an approval back, or refuse a key from now on",
    )
    .argument(
      "<what>",
      "[HOSTNAME/]NAMESPACE/TYPE@VERSION, or with --key HOSTNAME/NAMESPACE",
    )
    .option("--key <fingerprint>", "full fingerprint of a primary key")
    .action((what: string, options: ConfigOption & { key?: string }) =>
      run(options, (parts) =>
        options.key === undefined
          ? decideRelease(parts, what)
          : decideKey(parts, what, options.key, decision),
      ),
    );
}

function print(text: string): void {
  process.stdout.write(text);
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
        const stderr = (text: string) => void process.stderr.write(text);
        process.exitCode = await runHash(
          { archives, json, limits: zipLimits(limits) },
          { stdout: print, stderr },
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
  return isMisuse(error) ? misused : failed;
}

function isMisuse(error: unknown): boolean {
  return (
    error instanceof ConfigurationInvalid ||
    error instanceof MalformedAddress ||
    error instanceof NothingAsked
  );
}

/** A reader such as `head` may leave early: then what is left is not said, and nothing is wrong. */
function stopSpeaking({ code }: NodeJS.ErrnoException): void {
  if (code === "EPIPE") return;
  process.stderr.write(`provender: cannot write its output (${code}).\n`);
  process.exitCode = failed;
}

process.stdout.on("error", stopSpeaking);
process.stderr.on("error", () => undefined);
try {
  await makeProgram().parseAsync();
} catch (error) {
  process.exitCode = report(error);
}
