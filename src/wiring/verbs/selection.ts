import {
  machinePlatform,
  parsePlatform,
  type Platform,
} from "../../address/platform.ts";
import type { InputText } from "../../commands/inputs/input-file.ts";
import type { SelectionInput } from "../../commands/packages/package-selection.ts";
import type { Configuration } from "../../config/load.ts";
import { hostsOf } from "./hosts.ts";

/** The arguments and flags that choose packages; the files among them are read. */
export interface SelectionFlags {
  readonly spec: readonly string[];
  readonly module?: readonly string[];
  readonly directory?: readonly string[];
  readonly lockFile: readonly InputText[];
  readonly platform?: readonly string[];
}

export function selectionOf(
  flags: SelectionFlags,
  configuration: Configuration,
): SelectionInput {
  return {
    specs: flags.spec,
    modules: flags.module ?? [],
    lockFiles: flags.lockFile,
    directories: flags.directory ?? [],
    platforms: platformsOf(flags.platform, configuration.platforms),
    hosts: hostsOf(configuration),
  };
}

/** Returns the named platforms, else the configured ones, else this machine's. */
export function platformsOf(
  named: readonly string[] | undefined,
  configured: readonly Platform[],
): readonly Platform[] {
  if (named !== undefined) return named.map(parsePlatform);
  return configured.length > 0 ? configured : [machinePlatform(process)];
}
