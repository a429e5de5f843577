import { lockFromMirror } from "../../commands/lock/from-mirror.ts";
import { MirroredModules } from "../../commands/lock/mirrored-modules.ts";
import { runLock } from "../../commands/lock/lock.ts";
import { loadConfiguration } from "../../config/load.ts";
import { closing } from "../../wiring/commands/store.ts";
import { originLimits } from "../../origin/guard/origin-settings.ts";
import { wireHashing } from "../../wiring/threads.ts";
import { platformsOf } from "../../wiring/verbs/selection.ts";
import type { MirrorFlags } from "../flags.ts";
import { openMirror, refuseLoneAuthority } from "../mirror-access.ts";
import { untilStopped } from "../options.ts";
import { output } from "../output.ts";
import { runVerb } from "../verb.ts";

export interface LockFlags extends MirrorFlags {
  readonly platform?: readonly string[];
  readonly check?: boolean;
}

export async function lock(
  named: readonly string[],
  flags: LockFlags,
): Promise<void> {
  const { mirror, ca, platform, check = false } = flags;
  refuseLoneAuthority(flags);
  const { config } = flags;
  const directories = named.length > 0 ? named : ["."];
  if (mirror === undefined) {
    await runVerb("lock", { directories, platform, check, config });
    return;
  }
  const configuration = loadConfiguration({ file: config });
  const platforms = platformsOf(platform, configuration.platforms);
  await using other = openMirror(configuration, "--mirror", mirror, ca);
  const { base, http } = other;
  const signal = untilStopped();
  await using hashing = closing(wireHashing());
  const source = lockFromMirror({ http, hashing }, base, signal);
  const limits = originLimits(configuration.limits);
  const modules = new MirroredModules(http, base, limits, signal);
  const options = { directories, platforms, check };
  process.exitCode = await runLock(options, { source, modules }, output.stderr);
}
