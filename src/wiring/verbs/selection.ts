import { z } from "zod";
import {
  machinePlatform,
  parsePlatform,
  type Platform,
} from "../../address/platform.ts";
import { inputText } from "../../commands/inputs/input-file.ts";
import type { SelectionInput } from "../../commands/packages/package-selection.ts";
import type { Configuration } from "../../config/load.ts";
import { hostsOf } from "./hosts.ts";
import { texts } from "./verb.ts";

/** The arguments and flags that choose packages; the command has read the files. */
export const selection = {
  spec: texts,
  module: texts.default([]),
  directory: texts.default([]),
  lockFile: z.array(inputText),
  list: z.array(inputText),
  platform: texts.optional(),
};

type SelectionFlags = z.output<z.ZodObject<typeof selection>>;

export function selectionOf(
  flags: SelectionFlags,
  configuration: Configuration,
): SelectionInput {
  return {
    specs: flags.spec,
    modules: flags.module,
    lists: flags.list,
    lockFiles: flags.lockFile,
    directories: flags.directory,
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
