import type { Command } from "commander";
import { runPrefetch } from "../commands/prefetch.ts";
import { makeProgress } from "../commands/progress.ts";
import { loadConfiguration } from "../config.ts";
import { wireMirror } from "../wiring.ts";
import { collect, platformsOf, untilStopped } from "./options.ts";

interface PrefetchFlags {
  readonly config?: string;
  readonly platform?: readonly string[];
  readonly lockFile?: readonly string[];
  readonly directory?: readonly string[];
  readonly list?: readonly string[];
  readonly json?: boolean;
}

const now = () => performance.now();

/** `withConfig` adds the option that every command has. */
export function addPrefetch(
  program: Command,
  withConfig: (command: Command) => Command,
): void {
  withConfig(program.command("prefetch"))
    .description("fetch, verify and keep packages before they are asked for")
    .argument("[spec...]", "[HOSTNAME/]NAMESPACE/TYPE[@CONSTRAINT]")
    .option("--platform <os_arch>", "such as linux_amd64; repeatable", collect)
    .option("--lock-file <path>", "what it locks; repeatable", collect)
    .option(
      "--directory <dir>",
      "what is locked or required there and below; repeatable",
      collect,
    )
    .option("--list <path>", "a file of SPECs, - is stdin; repeatable", collect)
    .option("--json", "print one JSON document")
    .action(prefetch);
}

/** The first SIGINT or SIGTERM ends the work in order, a second one at once. */
async function prefetch(
  specs: readonly string[],
  flags: PrefetchFlags,
): Promise<void> {
  const configuration = loadConfiguration({ file: flags.config });
  const input = {
    specs,
    lists: flags.list ?? [],
    lockFiles: flags.lockFile ?? [],
    directories: flags.directory ?? [],
    platforms: platformsOf(flags.platform, configuration.platforms),
  };
  const core = await wireMirror(configuration);
  const parts = {
    mirror: core,
    progress: makeProgress(process.stderr, now),
    signal: untilStopped(),
  };
  const output = {
    stdout: (text: string) => process.stdout.write(text),
    stderr: (text: string) => process.stderr.write(text),
    now,
    stopFetching: () => core.stopFetching(),
  };
  try {
    const options = { input, json: flags.json ?? false };
    process.exitCode = await runPrefetch(options, parts, output);
  } finally {
    await core.close();
  }
}
