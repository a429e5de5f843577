import { createAuthority } from "../fakes/authority.ts";
import { startModuleRegistry } from "../fakes/module-registry.ts";
import { startRegistry } from "../fakes/registry.ts";
import { originsOf } from "../origins.ts";
import { startMirror, type MirrorOptions } from "../running-mirror.ts";

/** A registry until the tests of the file are over, and a configuration that has it for an origin. */
export async function startOrigin() {
  const authority = await createAuthority();
  const registry = await startRegistry({ authority });
  const config = originsOf(authority, registry);
  const [{ ca }] = Object.values(config.origins) as [{ readonly ca: string }];
  return { authority, registry, config, ca };
}

export const moduleHost = "modules.example.com";

/** The same beside a registry of modules. */
export async function startOrigins() {
  const { config, ...origin } = await startOrigin();
  const modules = await startModuleRegistry(origin);
  const of = { [moduleHost]: { url: modules.url, ca: origin.ca } };
  return {
    ...origin,
    modules,
    config: { origins: { ...config.origins, ...of } },
  };
}

/** The same, with a mirror of it. */
export async function startWorld(
  settings: Readonly<Record<string, unknown>> = {},
  options: Omit<MirrorOptions, "config"> = {},
) {
  const origin = await startOrigin();
  const config = { ...origin.config, ...settings };
  const mirror = await startMirror({ config, ...options });
  return { ...origin, mirror };
}
