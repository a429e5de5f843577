import { join } from "node:path";
import {
  startMirror,
  type MirrorOptions,
  type RunningMirror,
} from "../running-mirror.ts";

const program = join(import.meta.dirname, "impatient-daemon.ts");

/** Starts a daemon that waits so many milliseconds for clients that send or read slowly. */
export function startImpatientMirror(
  patience: number,
  config: MirrorOptions["config"] = {},
): Promise<RunningMirror> {
  const env = { PATIENCE: String(patience) };
  return startMirror({ program, env, config });
}
