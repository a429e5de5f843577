import type { Command } from "commander";
import { runExport } from "../commands/export.ts";
import { runImport } from "../commands/import.ts";
import { makeProgress } from "../commands/progress.ts";
import { loadConfiguration } from "../config.ts";
import { wireBundleLimits, wireMirror } from "../wiring.ts";
import { collect, platformsOf, untilStopped } from "./options.ts";

interface ExportFlags {
  readonly config?: string;
  readonly to?: string;
  readonly bundle?: string;
  readonly since?: string;
  readonly platform?: readonly string[];
  readonly lockFile?: readonly string[];
  readonly directory?: readonly string[];
  readonly list?: readonly string[];
}

/** `withConfig` adds the option that every command has. */
export function addAirGap(
  program: Command,
  withConfig: (command: Command) => Command,
): void {
  withConfig(program.command("export"))
    .description("write packages for a site that has no mirror of its own")
    .argument("[spec...]", "[HOSTNAME/]NAMESPACE/TYPE[@CONSTRAINT]")
    .option("--to <dir>", "a tree as `terraform providers mirror` writes it")
    .option("--bundle <file>", "one file for `provender import`")
    .option("--since <bundle>", "leave out what this bundle lists")
    .option("--platform <os_arch>", "such as linux_amd64; repeatable", collect)
    .option("--lock-file <path>", "what it locks; repeatable", collect)
    .option(
      "--directory <dir>",
      "what is locked or required there and below; repeatable",
      collect,
    )
    .option("--list <path>", "a file of SPECs, - is stdin; repeatable", collect)
    .action(exportPackages);
  withConfig(program.command("import"))
    .description("take a bundle into the store, after checking all of it again")
    .argument("<file>", "what `provender export --bundle` wrote")
    .action(importFile);
}

async function exportPackages(
  specs: readonly string[],
  flags: ExportFlags,
): Promise<void> {
  const configuration = loadConfiguration({ file: flags.config });
  const options = {
    input: {
      specs,
      lists: flags.list ?? [],
      lockFiles: flags.lockFile ?? [],
      directories: flags.directory ?? [],
      platforms: platformsOf(flags.platform, configuration.platforms),
    },
    to: flags.to,
    bundle: flags.bundle,
    since: flags.since,
    limits: wireBundleLimits(configuration),
  };
  const core = await wireMirror(configuration);
  const signal = untilStopped();
  signal.addEventListener("abort", () => void core.stopFetching());
  const progress = makeProgress(process.stderr, () => performance.now());
  const parts = { mirror: core, store: core, progress, signal };
  await finish(core, signal, () => runExport(options, parts, say));
}

async function importFile(
  file: string,
  flags: { readonly config?: string },
): Promise<void> {
  const configuration = loadConfiguration({ file: flags.config });
  const limits = wireBundleLimits(configuration);
  const core = await wireMirror(configuration);
  const signal = untilStopped();
  const options = { file, limits, signal };
  await finish(core, signal, () => runImport(core, options, say));
}

async function finish(
  core: { close(): Promise<void> },
  signal: AbortSignal,
  work: () => Promise<number>,
): Promise<void> {
  try {
    process.exitCode = await work();
  } catch (error) {
    if (!signal.aborted) throw error;
    say("Interrupted: run the same command again to go on.\n");
    process.exitCode = 1;
  } finally {
    await core.close();
  }
}

function say(text: string): void {
  process.stderr.write(text);
}
