import { lockFromMirror } from "../../commands/lock/from-mirror.ts";
import { MirroredModules } from "../../commands/lock/mirrored-modules.ts";
import { runLock } from "../../commands/lock/lock.ts";
import type { Output } from "../../commands/output/report.ts";
import { loadConfiguration } from "../../config/load.ts";
import { closing } from "../../wiring/commands/store.ts";
import { originLimits } from "../../origin/guard/origin-settings.ts";
import { wireHashing } from "../../wiring/kept.ts";
import { platformsOf } from "../../wiring/verbs/selection.ts";
import type { ElsewhereFlags } from "../flags.ts";
import { nameMirror, openMirror } from "../mirror-access.ts";
import { untilStopped } from "../output.ts";

interface LockFlags extends ElsewhereFlags {
  readonly dir: readonly string[];
  readonly platform?: readonly string[];
  readonly check?: boolean;
}

/** Asks the mirror that `--mirror` names. */
export async function lock(
  flags: LockFlags,
  { stderr }: Output,
): Promise<number> {
  const { dir: directories, config, mirror, ca } = flags;
  const { platform, check = false } = flags;
  const named = nameMirror("--mirror", mirror, ca);
  const configuration = loadConfiguration({ file: config });
  const platforms = platformsOf(platform, configuration.platforms);
  await using other = openMirror(configuration, named);
  const { base, http } = other;
  const signal = untilStopped();
  await using hashing = closing(wireHashing());
  const source = lockFromMirror({ http, hashing }, base, signal);
  const limits = originLimits(configuration.limits);
  const modules = new MirroredModules(http, base, limits, signal);
  const options = { directories, platforms, check };
  return await runLock(options, { source, modules }, stderr);
}
