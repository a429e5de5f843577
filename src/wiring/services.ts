import { type Configuration } from "../config/load.ts";
import { type Services } from "../server/protocols/service-discovery.ts";

/** Every service that the daemon offers under its own hostname; those of registries are of one origin. */
export function wireServices({ discovery, origins }: Configuration): Services {
  const [first] = origins.keys();
  const origin = discovery.origin ?? first;
  if (origin === undefined) return {};
  // Behind a network mirror nothing is signed, so that clients could not check it.
  const isSigned = origins.get(origin)?.networkMirror === undefined;
  return {
    ...(isSigned && { "providers.v1": `/v1/providers/${origin}/` }),
    "modules.v1": `/v1/modules/${origin}/`,
  };
}
