import { ModulePackages } from "../../commands/packages/module-packages.ts";
import { lockFromMirror } from "../../commands/lock/from-mirror.ts";
import { lockFromStore } from "../../commands/lock/from-store.ts";
import { MirroredModules } from "../../commands/lock/mirrored-modules.ts";
import { runLock, type LockOptions } from "../../commands/lock/lock.ts";
import { loadConfiguration } from "../../config/load.ts";
import { wireMirror } from "../../wiring/command.ts";
import { moduleLimits } from "../../wiring/modules.ts";
import { wireNamedHost } from "../../wiring/origins.ts";
import { wireHashing } from "../../wiring/threads.ts";
import { nameMirror, refuseLoneAuthority } from "../mirror-access.ts";
import { platformsOf, untilStopped } from "../options.ts";

export interface LockFlags {
  readonly config?: string;
  readonly platform?: readonly string[];
  readonly mirror?: string;
  readonly ca?: string;
  readonly check?: boolean;
}

export async function lock(
  directories: readonly string[],
  flags: LockFlags,
): Promise<void> {
  const { mirror, ca, check = false } = flags;
  refuseLoneAuthority(flags);
  const configuration = loadConfiguration({ file: flags.config });
  const options: LockOptions = {
    directories: directories.length > 0 ? directories : ["."],
    platforms: platformsOf(flags.platform, configuration.platforms),
    check,
  };
  const signal = untilStopped();
  const stderr = (text: string) => process.stderr.write(text);
  if (mirror === undefined) {
    const core = await wireMirror(configuration);
    signal.addEventListener("abort", () => void core.stopFetching());
    try {
      const modules = new ModulePackages(core, signal);
      const parts = { source: lockFromStore(core), modules };
      process.exitCode = await runLock(options, parts, stderr);
    } finally {
      await core.close();
    }
    return;
  }
  const named = nameMirror("--mirror", mirror, ca);
  const { base } = named;
  const http = wireNamedHost(configuration, base, named);
  const hashing = wireHashing(configuration);
  try {
    const source = lockFromMirror({ http, hashing }, base, signal);
    const limits = {
      ...configuration.limits,
      ...moduleLimits(configuration.limits),
    };
    const modules = new MirroredModules(http, base, limits, signal);
    const parts = { source, modules };
    process.exitCode = await runLock(options, parts, stderr);
  } finally {
    await hashing.close();
    await http.close();
  }
}
