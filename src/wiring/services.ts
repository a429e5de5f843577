import { type Configuration } from "../config/load.ts";
import type { Hostname } from "../address/hostname.ts";
import { type Services } from "../server/protocols/service-discovery.ts";

/** Names the services that the daemon offers under its own hostname, of one origin; `root` is its URL. */
export function wireServices(
  configuration: Configuration,
  root: string,
): Services {
  const origin = findOwnOrigin(configuration);
  if (origin === undefined) return {};
  const locate = (room: string) => `${root}v1/${room}/${origin}/`;
  return nameServices(configuration.origins, origin, locate);
}

/** The origin that the daemon offers under its own hostname. */
export function findOwnOrigin({
  discovery,
  origins,
}: Configuration): Hostname | undefined {
  const [first] = origins.keys();
  return discovery.origin ?? first;
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
