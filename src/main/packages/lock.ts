import { ModulePackages } from "../../commands/packages/module-packages.ts";
import { lockFromMirror } from "../../commands/lock/from-mirror.ts";
import { lockFromStore } from "../../commands/lock/from-store.ts";
import { MirroredModules } from "../../commands/lock/mirrored-modules.ts";
import { runLock, type LockOptions } from "../../commands/lock/lock.ts";
import { loadConfiguration } from "../../config/load.ts";
import { closing, wireMirror } from "../../wiring/commands/store.ts";
import { originLimits } from "../../origin/guard/origin-settings.ts";
import { wireHashing } from "../../wiring/threads.ts";
import type { MirrorFlags } from "../flags.ts";
import { openMirror, refuseLoneAuthority } from "../mirror-access.ts";
import { platformsOf, untilStopped } from "../options.ts";
import { output } from "../output.ts";

export interface LockFlags extends MirrorFlags {
  readonly platform?: readonly string[];
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
  const { stderr } = output;
  if (mirror === undefined) {
    await using core = await wireMirror(configuration);
    signal.addEventListener("abort", () => void core.stopFetching());
    const modules = new ModulePackages(core, signal);
    const parts = { source: lockFromStore(core), modules };
    process.exitCode = await runLock(options, parts, stderr);
    return;
  }
  await using other = openMirror(configuration, "--mirror", mirror, ca);
  const { base, http } = other;
  await using hashing = closing(wireHashing());
  const source = lockFromMirror({ http, hashing }, base, signal);
  const limits = originLimits(configuration.limits);
  const modules = new MirroredModules(http, base, limits, signal);
  process.exitCode = await runLock(options, { source, modules }, stderr);
}
