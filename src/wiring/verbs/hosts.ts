import { anyHost, type SpecHosts } from "../../address/specs/spec.ts";
import type { Configuration } from "../../config/load.ts";

/** Returns the hostnames that a SPEC may name. */
export function hostsOf({ origins }: Configuration): SpecHosts {
  return { configured: new Set(origins.keys()), allowsOthers: false };
}

/** The same for what is stored or logged, of which an origin may be gone. */
export function anyHostOf(configuration: Configuration): SpecHosts {
  return anyHost(hostsOf(configuration));
}
