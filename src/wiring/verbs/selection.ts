import {
  machinePlatform,
  parsePlatform,
  type Platform,
} from "../../address/platform.ts";
import type { InputText } from "../../commands/inputs/input-file.ts";
import type { SelectionInput } from "../../commands/packages/request.ts";
import type { Configuration } from "../../config/load.ts";
import { hostsOf } from "./hosts.ts";

/** The arguments and flags that choose packages. */
export interface SelectionFlags {
  readonly specs: readonly string[];
  readonly platform?: readonly string[] | undefined;
  readonly module?: readonly string[] | undefined;
  readonly directory?: readonly string[] | undefined;
  readonly lockFiles: readonly InputText[];
  readonly lists: readonly InputText[];
}

/** Throws malformed-address. */
export function selectionOf(
  flags: SelectionFlags,
  configuration: Configuration,
): SelectionInput {
  return {
    specs: flags.specs,
    modules: flags.module ?? [],
    lists: flags.lists,
    lockFiles: flags.lockFiles,
    directories: flags.directory ?? [],
    platforms: platformsOf(flags.platform, configuration.platforms),
    hosts: hostsOf(configuration),
  };
}

/**
 * Returns the named platforms, else the configured ones, else this machine's.
 * Throws malformed-address.
 */
export function platformsOf(
  named: readonly string[] | undefined,
  configured: readonly Platform[],
): readonly Platform[] {
  if (named !== undefined) return named.map(parsePlatform);
  return configured.length > 0 ? configured : [machinePlatform(process)];
}
