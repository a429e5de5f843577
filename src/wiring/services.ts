import { type Configuration } from "../config/load.ts";
import type { Hostname } from "../address/hostname.ts";
import { type Services } from "../server/protocols/service-discovery.ts";

/** Every service that the daemon offers under its own hostname; those of registries are of one origin. */
export function wireServices({ discovery, origins }: Configuration): Services {
  const [first] = origins.keys();
  const origin = discovery.origin ?? first;
  if (origin === undefined) return {};
  return nameServices(origins, origin, (room) => `/v1/${room}/${origin}/`);
}

/** The same of one origin, as a registry of its own below `root`. */
export function wireRegistryServices(
  { origins }: Configuration,
  hostname: Hostname,
  root: string,
): Services {
  const base = `${root}registry/${hostname}/v1/`;
  return nameServices(origins, hostname, (room) => `${base}${room}/`);
}

function nameServices(
  origins: Configuration["origins"],
  hostname: Hostname,
  locate: (room: string) => string,
): Services {
  // Behind a network mirror nothing is signed, so that clients could not check it.
  const isSigned = origins.get(hostname)?.networkMirror === undefined;
  return {
    ...(isSigned && { "providers.v1": locate("providers") }),
    "modules.v1": locate("modules"),
  };
}
