import { AskedMirror } from "../../commands/lock/asked-mirror.ts";
import { runLock } from "../../commands/lock/lock.ts";
import type { Output } from "../../commands/output/report.ts";
import { loadConfiguration } from "../../config/load.ts";
import { originLimits } from "../../origin/guard/origin-settings.ts";
import { closing } from "../../wiring/commands/store.ts";
import { wireHashing } from "../../wiring/kept.ts";
import { platformsOf } from "../../wiring/verbs/selection.ts";
import {
  type MirrorFlags,
  refuseLoneAuthority,
  untilStopped,
} from "../flags.ts";
import { nameLocalMirror, nameMirror, openMirror } from "../mirror-access.ts";

interface LockFlags extends MirrorFlags {
  readonly dir: readonly string[];
  readonly platform?: readonly string[];
  readonly check?: boolean;
}

/** Asks the mirror that `--mirror` names, else that of the configuration, to which no proxy leads. */
export async function lock(
  flags: LockFlags,
  { stderr }: Output,
): Promise<number> {
  const { dir: directories, mirror, ca, platform, check = false } = flags;
  refuseLoneAuthority(flags);
  const configuration = loadConfiguration({ file: flags.config });
  const { limits } = configuration;
  const platforms = platformsOf(platform, configuration.platforms);
  const direct = { limits, proxy: { https: undefined, no: undefined } };
  await using asked =
    mirror === undefined
      ? openMirror(direct, nameLocalMirror(configuration))
      : openMirror(configuration, nameMirror(mirror, ca));
  await using hashing = closing(wireHashing());
  const from = new AskedMirror(
    ...([asked.http, asked.base, originLimits(limits), hashing] as const),
    untilStopped(),
  );
  return await runLock({ directories, platforms, check }, from, stderr);
}
