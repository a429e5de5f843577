import { constants } from "node:os";
import { anyHost, type SpecHosts } from "../address/spec.ts";
import {
  machinePlatform,
  parsePlatform,
  type Platform,
} from "../address/platform.ts";
import { type Configuration, loadConfiguration } from "../config/load.ts";
import type { OpenMirror } from "../wiring/open-mirror.ts";
import { stderr } from "./output/report.ts";

/** Options of nearly every command. */
export interface Flags {
  readonly config?: string;
  readonly json?: boolean;
}

/**
 * Aborted by the first SIGINT or SIGTERM, so that work ends in order; a second one ends the process. What is ended so
 * has the exit status that shells give it: 130, or 143.
 */
export function untilStopped(): AbortSignal {
  const stop = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const)
    process.once(signal, () => {
      stop.abort();
      process.once("exit", () => {
        process.exitCode = 128 + constants.signals[signal];
      });
    });
  return stop.signal;
}

/**
 * Runs a command on the store, beside a daemon and other commands or without them; `settings` count in place of what is
 * configured. Root becomes the owner of the store from there on. Returns the exit status.
 */
export async function onStore(
  { config }: Flags,
  act: (mirror: OpenMirror, signal: AbortSignal) => Promise<number>,
  settings: Partial<Configuration> = {},
): Promise<number> {
  const configuration = { ...loadConfiguration({ file: config }), ...settings };
  const signal = untilStopped();
  // Loaded here, since commands that open no store import this file, too.
  const { openMirror } = await import("../wiring/open-mirror.ts");
  try {
    await using mirror = await openMirror(configuration);
    return await act(mirror, signal);
  } catch (error) {
    if (!signal.aborted) throw error;
    stderr("Interrupted: run the same command again.\n");
    return 1;
  }
}

/** Returns the hostnames that a SPEC may name. */
export function hostsOf({ origins }: Configuration): SpecHosts {
  return { configured: new Set(origins.keys()), allowsOthers: false };
}

/** The same for what is stored or logged, of which an origin may be gone. */
export function anyHostOf(configuration: Configuration): SpecHosts {
  return anyHost(hostsOf(configuration));
}

/** Returns the named platforms, else the configured ones, else this machine's. */
export function platformsOf(
  named: readonly string[] | undefined,
  { platforms }: Configuration,
): readonly Platform[] {
  if (named !== undefined) return named.map(parsePlatform);
  return platforms.length > 0 ? platforms : [machinePlatform(process)];
}
