import {
  machinePlatform,
  parsePlatform,
  type Platform,
} from "../address/platform.ts";
import { anyHost, type SpecHosts } from "../address/specs/spec.ts";
import type { Configuration } from "../config/load.ts";
import type { Flags } from "./flags.ts";
import { output } from "./output.ts";

/** The flags that choose packages. */
export interface SelectionFlags extends Flags {
  readonly platform?: readonly string[];
  readonly module?: readonly string[];
  readonly lockFile?: readonly string[];
  readonly directory?: readonly string[];
  readonly list?: readonly string[];
}

/** Throws malformed-address. */
export function selectionOf(
  specs: readonly string[],
  flags: SelectionFlags,
  configuration: Configuration,
) {
  return {
    specs,
    modules: flags.module ?? [],
    lists: flags.list ?? [],
    lockFiles: flags.lockFile ?? [],
    directories: flags.directory ?? [],
    platforms: platformsOf(flags.platform, configuration.platforms),
    hosts: hostsOf(configuration),
  };
}

/** Returns the hostnames that a SPEC may name. */
export function hostsOf({ origins }: Configuration): SpecHosts {
  return { configured: new Set(origins.keys()), allowsOthers: false };
}

/** The same for what is stored or logged, of which an origin may be gone. */
export function anyHostOf(configuration: Configuration): SpecHosts {
  return anyHost(hostsOf(configuration));
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

/** Aborted by the first SIGINT or SIGTERM, so that work ends in order; a second one ends the process. */
export function untilStopped(): AbortSignal {
  const stop = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const)
    process.once(signal, () => stop.abort());
  return stop.signal;
}

/** Returns the exit status of `run`, or the one of an interrupted command. */
export async function unlessStopped(
  signal: AbortSignal,
  run: () => Promise<number>,
): Promise<void> {
  try {
    process.exitCode = await run();
  } catch (error) {
    if (!signal.aborted) throw error;
    output.stderr("Interrupted: run the same command again.\n");
    process.exitCode = 1;
  }
}
